import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The server of `make run`; `npm run dev` forwards the API to it so that the page keeps one origin.
const server = 'http://127.0.0.1:8002';

export default defineConfig({
  base: '/studio/',
  plugins: [react()],
  // The page names its files from the root, where the server puts the base path in; they name each other by where they are.
  experimental: {
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `/studio/${file}` : { relative: true }),
  },
  worker: { format: 'es' },
  build: {
    // Not dist itself: a placeholder lives there, so that the Go embed has a directory before the Studio is built.
    outDir: 'dist/app',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined assets would be data: scripts and fonts, which the content security policy refuses.
    assetsInlineLimit: 0,
    manifest: true,
    chunkSizeWarningLimit: 8000,
  },
  server: { proxy: { '/api': { target: server, ws: true }, '/login': server, '/schemas': server } },
  test: { include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'], environment: 'node' },
});
