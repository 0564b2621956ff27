import { defineConfig } from 'vitest/config';

// Runs the vendors' SDKs against the real binary, without a browser.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['vendors.ts', 'clients.ts', 'pythonClient.ts', 'adapters.ts', 'conformance.ts'],
    environment: 'node',
    // mypy and pip take long, because the Go tests run at the same time
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
