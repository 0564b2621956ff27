import { defineConfig } from 'vitest/config';

// Browser tests over the real binary. Two files at a time: a page spends half of its time waiting for its server, and more
// of them on two cores would measure patience.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['*.e2e.ts'],
    environment: 'node',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
