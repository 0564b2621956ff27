// Removes the browser declarations from the TypeScript worker. Programs here do not run in a browser; those
// declarations are most of the worker and stay in its memory. Monaco's own worker is not built, because
// src/editor/ts.worker.ts takes its place.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const manager = /\/languages\/features\/typescript\/workerManager\.js$/;
const libraries = /\/languages\/features\/typescript\/lib\/lib\.js$/;

export function shortTypeScriptWorker(): Plugin {
  return {
    name: 'short-typescript-worker',
    apply: 'build',
    enforce: 'pre',
    load: (id) => {
      if (manager.test(id)) return withoutWorker(readFileSync(id, 'utf8'));
      return libraries.test(id) ? withoutBrowser(readFileSync(id, 'utf8')) : null;
    },
  };
}

const fallback = /^ *createWorker: \(\) => new Worker\(.*\),\n/m;

/** Returns the manager without the worker that it starts where the page gives none. */
export function withoutWorker(code: string): string {
  if (!fallback.test(code)) throw new Error("the manager of TypeScript's worker does not start it where it did");
  return code.replace(fallback, '');
}

// The name of a library, and its text on one line.
const library = /^libFileMap\["lib\.([\w.]*?)\.?d\.ts"\] = .*;\n/gm;
// The full libraries combine language and browser, as lib.d.ts and lib.es6.d.ts do.
const ofBrowsers = /^$|^es6$|^(dom|webworker|scripthost)\b|\.full$/;

/** Returns the libraries without those of browsers and those that reference them. */
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
