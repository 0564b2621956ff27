import { defineConfig } from 'vitest/config';
import { patience } from './kit/patience';

// `make screenshots`: pictures for the README, of the real server.
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
