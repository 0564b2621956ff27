// Common programs have no red mark: TypeScript checks them here with the options and declarations that the editor uses.
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test, vi } from 'vitest';
import { compilerOptions, ignoredDiagnostics, untypedOptions } from './compilerOptions';
import gojaTypes from './goja.d.ts.txt?raw';
import { namesNode } from './nodeNames';
import { nodeTypes } from './nodeTypes';
import programTypes from './program.d.ts.txt?raw';

const agentTypes = 'interface Input { [name: string]: unknown }\ntype Output = unknown;\ninterface Environment {}\n';
const read = (name: string): string => readFileSync(new URL(`../../e2e/idioms/${name}`, import.meta.url), 'utf8');

/** Declarations, which are the same for every program. */
const parsed = new Map<string, ts.SourceFile>();

// Reading Node's declarations takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** What the editor marks in a program, with its line. */
function marks(name: string, text: string, engine: 'goja' | 'node'): string[] {
  const engineTypes: [string, string][] = engine === 'node' ? nodeTypes : [['file:///atelier/goja.d.ts', gojaTypes]];
  const files = new Map<string, string>([
    [`file:///workspace/${name}`, text],
    ['file:///atelier/program.d.ts', programTypes],
    ['file:///atelier/agent-types.d.ts', agentTypes],
    ...engineTypes,
  ]);
  const base = name.endsWith('.js') ? untypedOptions : compilerOptions;
  const options: ts.CompilerOptions = {
    ...base,
    lib: base.lib.map((lib) => `lib.${lib}.d.ts`),
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Node10,
    moduleDetection: ts.ModuleDetectionKind.Force,
  };
  const standard = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...standard,
    fileExists: (path) => files.has(path) || standard.fileExists(path),
    readFile: (path) => files.get(path) ?? standard.readFile(path),
    directoryExists: () => true,
    getCurrentDirectory: () => 'file:///',
    getSourceFile: (path, target) => {
      const own = path.startsWith('file:///workspace/');
      const known = own ? undefined : parsed.get(path);
      if (known) return known;
      const text = files.get(path) ?? standard.readFile(path);
      if (text === undefined) return undefined;
      const source = ts.createSourceFile(path, text, target, true);
      if (!own) parsed.set(path, source);
      return source;
    },
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const source = program.getSourceFile(`file:///workspace/${name}`);
  if (!source) throw new Error(`${name} was not read`);
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    .filter(({ code }) => !ignoredDiagnostics.includes(code))
    .map(({ start = 0, messageText, code }) => {
      const { line } = source.getLineAndCharacterOfPosition(start);
      return `${name}:${line + 1} ${ts.flattenDiagnosticMessageText(messageText, ' ')} (${code})`;
    });
}

for (const name of ['javascript.js', 'typescript.ts']) {
  test(`the idioms of ${name} have no mark with the declarations of either engine`, () => {
    const text = read(name);
    expect(namesNode(text)).toBe(false);
    expect(marks(name, text, 'goja')).toEqual([]);
    expect(marks(name, text, 'node')).toEqual([]);
  });
}

for (const name of ['javascript.node.js', 'typescript.node.ts']) {
  test(`the idioms of ${name} have no mark with the declarations of Node`, () => {
    const text = read(name);
    expect(namesNode(text)).toBe(true);
    expect(marks(name, text, 'node')).toEqual([]);
  });
}

test.each([
  ["import { readFile } from 'node:fs/promises';", true],
  ['const fs = require("fs");', true],
  ['console.log(process.env.HOME)', true],
  ['await crypto.subtle.digest("SHA-256", bytes)', true],
  ['new Blob([text])', true],
  ['setTimeout(run, 5).unref()', true],
  ['const order = { process: 1 };', false],
  ['crypto.randomUUID()', false],
  ['performance.now()', false],
  ["import { clamp } from './lib/math.ts';", false],
])('%s names Node: %s', (text, expected) => expect(namesNode(text)).toBe(expected));

test('a mistake has its mark', () => {
  expect(marks('main.js', "const sleep = new Promise((r) => setTimeout(r, 'soon'));", 'goja')).toHaveLength(1);
  expect(marks('main.ts', 'const n: number = console.tabel(1);', 'goja')).toHaveLength(1);
});
