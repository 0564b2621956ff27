import { defineConfig } from 'vitest/config';
import { waitTimeout } from './kit/waitTimeout';

// `make bench`: times of journeys through the Studio, one after the other so that they do not disturb each other.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['timings/*.timing.ts'],
    environment: 'node',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: waitTimeout } },
  },
});
