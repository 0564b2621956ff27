import { defineConfig } from 'vitest/config';
import { patience } from './kit/patience';

// `make screenshots`: pictures of the real server for the README.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['screenshots.ts'],
    environment: 'node',
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: patience } },
  },
});
