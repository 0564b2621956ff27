import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { shortTypeScriptWorker, withoutBrowser, withoutWorker } from './typescriptWorker';

const path = fileURLToPath(
  import.meta.resolve('monaco-editor/languages/features/typescript/ts.worker').replace('ts.worker.js', 'lib/lib.js'),
);

test('the worker has the libraries of the language, whole, and none of a browser', () => {
  const short = shortTypeScriptWorker().load(path);
  const names = (code) => [...code.matchAll(/^libFileMap\["lib\.(.*)d\.ts"\] = /gm)].map(([, name]) => name);
  const kept = names(short);
  expect(kept).toContain('es2023.array.');
  expect(kept).toContain('decorators.');
  expect(names(readFileSync(path, 'utf8')).filter((name) => !kept.includes(name))).toContain('dom.');
  // Every kept library references only kept libraries.
  const named = [...short.matchAll(/reference lib="([^"]+)"/g)].map(([, name]) => `${name}.`);
  expect(named.filter((name) => !kept.includes(name))).toEqual([]);
  expect(short).toMatch(/^export \{ libFileMap \};$/m);
  expect(short.length).toBeLessThan(700_000);
});

test('the manager of the worker starts none of its own', () => {
  const manager = path.replace('lib/lib.js', 'workerManager.js');
  expect(readFileSync(manager, 'utf8')).toContain('new Worker(');
  expect(shortTypeScriptWorker().load(manager)).not.toContain('new Worker(');
  expect(() => withoutWorker('createWebWorker({})')).toThrow('where it did');
});

test('a library that is elsewhere ends the build', () => {
  expect(() => withoutBrowser('libFileMap["lib.dom.d.ts"] = "";\n')).toThrow('not where they were');
  expect(shortTypeScriptWorker().load('/other/lib.js')).toBe(null);
});
