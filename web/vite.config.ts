import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { fewerMonacoFeatures } from './scripts/monacoFeatures';
import { preloadEditor } from './scripts/preload';
import { asciiScripts } from './scripts/asciiScripts';
import { shortPythonWorker } from './scripts/pythonWorker';
import { shortTypeScriptWorker } from './scripts/typescriptWorker';

// The server of `make run`; `npm run dev` forwards the API to it so that the page keeps one origin.
const server = 'http://127.0.0.1:8002';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  base: '/studio/',
  plugins: [
    react(),
    fewerMonacoFeatures(),
    preloadEditor(),
    shortPythonWorker(),
    shortTypeScriptWorker(),
    asciiScripts(),
  ],
  resolve: {
    // monaco-vim names Monaco's files as they were called before 0.56, and to browsers it offers a bundle with a half of
    // Monaco inside.
    alias: [
      { find: /^monaco-vim$/, replacement: at('../node_modules/monaco-vim/dist/index.mjs') },
      { find: 'monaco-editor/esm/vs/editor/editor.api', replacement: 'monaco-editor/editor/editor.api' },
      {
        find: 'monaco-editor/esm/vs/editor/common/commands/shiftCommand',
        replacement: at('src/editor/vim/shiftCommand.ts'),
      },
    ],
  },
  // The page names its files from the root, where the server puts the base path in; they name each other by where they are.
  experimental: {
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `/studio/${file}` : { relative: true }),
  },
  worker: { format: 'es', plugins: () => [shortTypeScriptWorker(), asciiScripts()] },
  build: {
    // Not dist itself: a placeholder lives there, so that the Go embed has a directory before the Studio is built.
    outDir: 'dist/app',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined assets would be data: scripts and fonts, which the content security policy refuses.
    assetsInlineLimit: 0,
    manifest: true,
    chunkSizeWarningLimit: 8000,
    rolldownOptions: {
      output: {
        // What several pages share is one file: HTTP/1.1 fetches six at a time, and two dozen of a kilobyte take longer.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /\/web\/src\/(?!editor\/(?!settings|EditorForm))|\/node_modules\/(?!monaco-editor\/)/,
              minShareCount: 2,
            },
            { name: 'monaco', test: /\/node_modules\/monaco-editor\/esm\/vs\/(?!languages\/)/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: server, ws: true }, '/login': server, '/schemas': server, '/health': server } },
  test: { include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'], environment: 'node' },
});
