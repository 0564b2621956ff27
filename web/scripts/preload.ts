// Adds links to the editor's files to the page. On the page of an agent public/ask.js turns them into preload links, so
// that the browser fetches them next to the first screen's code. They have low priority: on a slow line the first screen
// loads first. Other pages fetch no editor.
import type { Plugin } from 'vite';

/** The part of Vite's output that preloading needs. */
export interface Output {
  type: 'chunk' | 'asset';
  fileName: string;
  facadeModuleId?: string | null;
  imports?: string[];
  viteMetadata?: { importedCss: Set<string> };
}

const entries = ['/src/workbench/AgentPage.tsx', '/src/editor/kit.ts'];

export function preloadEditor(): Plugin {
  let base = '/';
  return {
    name: 'preload-editor',
    apply: 'build',
    configResolved(config) {
      base = config.base;
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const files = filesOf(Object.values(bundle ?? {})).filter((file) => !html.includes(file));
        return files.map((file) => ({
          tag: 'link',
          injectTo: 'head-prepend', // before ask.js
          attrs: {
            ...(file.endsWith('.css') ? { 'data-editor': 'preload', as: 'style' } : { 'data-editor': 'modulepreload' }),
            crossorigin: true,
            fetchpriority: 'low',
            href: base + file,
          },
        }));
      },
    },
  };
}

/** The scripts of the entries, the chunks they need to start, and their styles. */
export function filesOf(bundle: readonly Output[]): string[] {
  const reached = new Set<Output>();
  const styles = new Set<string>();
  const take = (chunk: Output | undefined): void => {
    if (!chunk || reached.has(chunk)) return;
    reached.add(chunk);
    for (const style of chunk.viteMetadata?.importedCss ?? []) styles.add(style);
    for (const next of chunk.imports ?? []) take(bundle.find(({ fileName }) => fileName === next));
  };
  for (const entry of entries) {
    const chunk = bundle.find(({ facadeModuleId }) => facadeModuleId?.endsWith(entry));
    if (!chunk) throw new Error(`${entry} has no chunk that could be preloaded.`);
    take(chunk);
  }
  return [...[...reached].map(({ fileName }) => fileName), ...styles];
}
