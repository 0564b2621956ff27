import { defineConfig } from 'vitest/config';
import { waitTimeout } from './kit/waitTimeout';

// `make screenshots`: pictures of the real server for the README.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['screenshots.ts'],
    environment: 'node',
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: waitTimeout } },
  },
});
