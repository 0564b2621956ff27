import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { docsFonts } from './scripts/docsFonts';
import { fewerMonacoFeatures } from './scripts/monacoFeatures';
import { preloadEditor } from './scripts/preload';
import { asciiScripts } from './scripts/asciiScripts';
import { shortPythonWorker } from './scripts/pythonWorker';
import { shortTypeScriptWorker } from './scripts/typescriptWorker';

// The address of `make run`. `npm run dev` proxies the API to it, so that the page has one origin.
const server = 'http://127.0.0.1:8002';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: import.meta.dirname,
  base: '/studio/',
  plugins: [
    react(),
    fewerMonacoFeatures(),
    preloadEditor(),
    shortPythonWorker(),
    shortTypeScriptWorker(),
    asciiScripts(),
    docsFonts(),
  ],
  resolve: {
    // monaco-vim imports Monaco's file names from before 0.56, and its browser entry bundles half of Monaco.
    alias: [
      { find: /^monaco-vim$/, replacement: at('../node_modules/monaco-vim/dist/index.mjs') },
      { find: 'monaco-editor/esm/vs/editor/editor.api', replacement: 'monaco-editor/editor/editor.api' },
      {
        find: 'monaco-editor/esm/vs/editor/common/commands/shiftCommand',
        replacement: at('src/editor/vim/shiftCommand.ts'),
      },
    ],
  },
  // The page references its files from the root, where the server inserts the base path. Files reference each other
  // relatively.
  experimental: {
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `/studio/${file}` : { relative: true }),
  },
  worker: { format: 'es', plugins: () => [shortTypeScriptWorker(), asciiScripts()] },
  build: {
    // A subfolder of dist: dist holds a placeholder, so that Go can embed it before the Studio is built.
    outDir: 'dist/app',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined assets would be data: scripts and fonts, which the content security policy forbids.
    assetsInlineLimit: 0,
    manifest: true,
    chunkSizeWarningLimit: 8000,
    rolldownOptions: {
      output: {
        // Code that four or more pages share is one file. HTTP/1.1 loads six files at a time, and two dozen small ones take
        // longer.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /\/web\/src\/(?!editor\/(?!settings|EditorForm))|\/node_modules\/(?!monaco-editor\/)/,
              minShareCount: 4,
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
