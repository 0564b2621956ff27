import { defineConfig } from 'vitest/config';
import { waitTimeout } from './kit/waitTimeout';

// `make bench`: measures journeys through the Studio, one after the other, so that they do not slow each other down.
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
