// Monaco's features without what nobody can use here: its inline completions, text that a model proposes behind the
// cursor, are a twentieth of the editor and have no provider in the Studio. The list of suggestions came with them and
// stays. The others are taken whole, since they lean on each other.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

// Its services for languages take them all as well.
const lists = /\/vs\/(features\/register\.all|internal\/common\/workers)\.js$/;

export function fewerMonacoFeatures(): Plugin {
  return {
    name: 'fewer-monaco-features',
    apply: 'build',
    enforce: 'pre',
    load: (id) => (lists.test(id) ? withoutInlineCompletions(readFileSync(id, 'utf8')) : null),
  };
}

/** The same list of features with the list of suggestions in place of inline completions. */
export function withoutInlineCompletions(code: string): string {
  const short = code
    .replace(/^import '[^']*\/inlineCompletions\.contribution\.js';\n/m, '')
    .replace('/suggestInlineCompletions.js', '/suggestController.js');
  if (/inlineCompletions/i.test(short) || !short.includes('/suggest/browser/suggestController.js'))
    throw new Error("Monaco's features are not where they were");
  return short;
}
