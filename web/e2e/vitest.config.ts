import { defineConfig } from 'vitest/config';

// Browser tests over the real binary. One file at a time: two Chromiums and two servers on two cores measure patience.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['*.e2e.ts'],
    environment: 'node',
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
