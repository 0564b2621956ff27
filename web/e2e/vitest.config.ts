import { defineConfig } from 'vitest/config';
import { waitTimeout } from './kit/waitTimeout';

// Browser tests against the real binary, two files at a time. A page waits for its server half of the time; more files
// on two cores would only cause time-outs.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['*.e2e.ts'],
    environment: 'node',
    maxWorkers: 2,
    // A worker loads Playwright and the kit once; neither keeps state between files.
    isolate: false,
    // Tests wait for states. The time limits stand only here and in kit/browser.ts, and fit the slowest healthy
    // machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: waitTimeout } },
  },
});
