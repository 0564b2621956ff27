// Removes inline completions from what the editor loads at its start: they are a twentieth of it, and off until a person
// switches the suggestions of a language model on. The suggestion list is kept. The other features depend on each other
// and stay.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

// Monaco's language services import all features too.
const lists = /\/vs\/(features\/register\.all|internal\/common\/workers)\.js$/;

export function fewerMonacoFeatures(): Plugin {
  return {
    name: 'fewer-monaco-features',
    apply: 'build',
    enforce: 'pre',
    load: (id) => (lists.test(id) ? withoutInlineCompletions(readFileSync(id, 'utf8')) : null),
  };
}

/** The same feature list with suggestions in place of inline completions. */
export function withoutInlineCompletions(code: string): string {
  const short = code
    .replace(/^import '[^']*\/inlineCompletions\.contribution\.js';\n/m, '')
    .replace('/suggestInlineCompletions.js', '/suggestController.js');
  if (/inlineCompletions/i.test(short) || !short.includes('/suggest/browser/suggestController.js'))
    throw new Error("Monaco's features are not where they were");
  return short;
}
