import { defineConfig } from 'vitest/config';
import { waitTimeout } from './kit/waitTimeout';

// `make photographs`: pictures of every screen for review.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['photographs.ts'],
    environment: 'node',
    hookTimeout: 60_000,
    expect: { poll: { timeout: waitTimeout } },
  },
});
