import { defineConfig } from 'vitest/config';
import { patience } from './kit/patience';

// Browser tests over the real binary. Two files at a time: a page spends half of its time waiting for its server, and more
// of them on two cores would measure patience.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['*.e2e.ts'],
    environment: 'node',
    maxWorkers: 2,
    // The files of a worker load Playwright and the kit once: neither keeps anything for the next file.
    isolate: false,
    // What is waited for is a state; how long is said here and in kit/browser.ts alone, for the slowest machine that is healthy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: patience } },
  },
});
