import { defineConfig } from 'vitest/config';
import { patience } from './kit/patience';

// `make bench`: how long journeys through the Studio take. One after the other, since two would measure each other.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['timings/*.timing.ts'],
    environment: 'node',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: patience } },
  },
});
