import { defineConfig } from 'vitest/config';
import { patience } from './kit/patience';

// `make photographs`: pictures of every screen for review.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['photographs.ts'],
    environment: 'node',
    hookTimeout: 60_000,
    expect: { poll: { timeout: patience } },
  },
});
