// TypeScript's worker brings the declarations of every place where JavaScript runs. Programs run here in no browser, so that
// those of pages and of their workers go: they are most of what it brings, and it holds them as long as it lives.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const libraries = /\/languages\/features\/typescript\/lib\/lib\.js$/;

export function shortTypeScriptWorker(): Plugin {
  return {
    name: 'short-typescript-worker',
    apply: 'build',
    enforce: 'pre',
    load: (id) => (libraries.test(id) ? withoutBrowser(readFileSync(id, 'utf8')) : null),
  };
}

// A library by its name, and its text in one line.
const library = /^libFileMap\["lib\.([\w.]*?)\.?d\.ts"\] = .*;\n/gm;
// The full ones are those of the language and of browsers together, as lib.d.ts and lib.es6.d.ts are.
const ofBrowsers = /^$|^es6$|^(dom|webworker|scripthost)\b|\.full$/;

/** The same libraries without those of browsers, and without those that name them. */
export function withoutBrowser(code: string): string {
  const short = code.replace(library, (whole, name: string) => (ofBrowsers.test(name) ? '' : whole));
  if (
    !/"lib\.es5\.d\.ts"/.test(short) ||
    /"lib\.(dom|webworker)\b/.test(short) ||
    /reference lib="(dom|webworker)/.test(short)
  )
    throw new Error("the libraries of TypeScript's worker are not where they were");
  return short;
}
