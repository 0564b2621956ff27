import { parseAst } from 'vite';
import { describe, expect, test } from 'vitest';
import { complaint, evaluates, untilEditor, weigh } from './budgets.mjs';

const chunk = (name, more = {}) => ({ file: `assets/${name}-12345678.js`, ...more });
const tsMode = '../node_modules/monaco-editor/esm/vs/languages/features/typescript/tsMode.js';
const manifest = {
  'index.html': chunk('index', { imports: ['_shared.js'], css: ['assets/index-12345678.css'] }),
  '_shared.js': chunk('shared'),
  'src/workbench/AgentPage.tsx': chunk('AgentPage', { imports: ['index.html', '_shared.js'] }),
  'src/editor/kit.ts': chunk('kit', { imports: ['_monaco.js', tsMode] }),
  '_monaco.js': chunk('monaco'),
  [tsMode]: chunk('tsMode', { imports: ['_monaco.js'] }),
  'src/editor/python/open.ts': chunk('open'),
  'src/lazy.tsx': chunk('lazy'),
};
const stems = [...'index shared AgentPage kit monaco tsMode open lazy'.split(' ')];
stems.push('pyright.worker', 'ts.worker', 'json.worker', 'nodeTypes');
const names = [...stems.map((stem) => `assets/${stem}-12345678.js`), 'assets/index-12345678.css'];

/** Every file has one kilobyte at quality 11 unless stated otherwise. */
function over(sizes, other = 0) {
  const files = Object.fromEntries(names.map((name) => [name, { brotli: 1120, other: 0 }]));
  for (const [stem, kilobytes] of Object.entries(sizes)) files[`assets/${stem}`] = { brotli: kilobytes * 1120, other };
  return weigh(manifest, files)
    .filter(({ bytes, limit }) => bytes > limit)
    .map(({ what }) => what);
}

describe('budgets', () => {
  test('are kept by what is small', () => {
    expect(over({})).toEqual([]);
  });

  test.each([
    ['code before the first screen', 'index-12345678.js', 174, 175],
    ['code before the first screen', 'shared-12345678.js', 174, 175],
    ['style before the first screen', 'index-12345678.css', 20, 21],
    ['code until the editor is ready', 'AgentPage-12345678.js', 1045, 1046],
    ['code until the editor is ready', 'monaco-12345678.js', 1045, 1046],
    ['code until the editor is ready', 'tsMode-12345678.js', 1045, 1046],
    ["TypeScript's worker", 'ts.worker-12345678.js', 1100, 1101],
    ["Python's worker and its bridge", 'pyright.worker-12345678.js', 2499, 2500],
    ["Python's worker and its bridge", 'open-12345678.js', 2499, 2500],
    ['assets/lazy-12345678.js', 'lazy-12345678.js', 80, 81],
    ['assets/json.worker-12345678.js', 'json.worker-12345678.js', 105, 106],
    ['assets/nodeTypes-12345678.js', 'nodeTypes-12345678.js', 330, 331],
  ])('of %s count %s', (what, name, most, tooMuch) => {
    expect(over({ [name]: most })).toEqual([]);
    expect(over({ [name]: tooMuch })).toEqual([what]);
  });

  test('the total counts uncompressed files at raw size', () => {
    expect(over({ 'lazy-12345678.js': 1 }, 12_487_000 - 1000)).toEqual([]);
    expect(over({ 'lazy-12345678.js': 1 }, 12_487_000 + 1000)).toEqual(['everything in the binary']);
  });

  test('files packed at quality 11 count at their size', () => {
    const files = Object.fromEntries(names.map((name) => [name, { brotli: 1000, dense: true, other: 0 }]));
    expect(weigh(manifest, files)[0]).toMatchObject({ what: 'code before the first screen', bytes: 2000 });
  });

  test('know what the editor waits for', () => {
    const awaited = 'index shared AgentPage kit monaco tsMode'.split(' ').map((stem) => `assets/${stem}-12345678.js`);
    expect(untilEditor(manifest)).toEqual(new Set([...awaited, 'assets/index-12345678.css']));
  });

  test('that would measure nothing are refused', () => {
    const all = Object.fromEntries(names.map((name) => [name, { brotli: 1, other: 0 }]));
    const without = (object, key) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
    expect(() => weigh(without(manifest, 'src/editor/kit.ts'), all)).toThrow('src/editor/kit.ts has no chunk');
    for (const stem of ['ts.worker', 'pyright.worker', 'nodeTypes'])
      expect(() => weigh(manifest, without(all, `assets/${stem}-12345678.js`))).toThrow(`No file is called ${stem}`);
    expect(() => weigh(manifest, without(all, 'assets/monaco-12345678.js'))).toThrow(
      'monaco-12345678.js was not built',
    );
  });

  test('exceeded budgets are reported with name, size and limit', () => {
    const said = complaint({ what: 'assets/lazy-12345678.js', bytes: 91_234, limit: 80_000 });
    expect(said).toContain('assets/lazy-12345678.js has 91.2 kB; the budget is 80.0 kB.');
  });
});

describe('code out of text', () => {
  test.each([
    'eval("1")',
    '(0, eval)("1")',
    'new Function("return 1")',
    'const f = Function ("return this")()',
    'const Template = (x) => new Function(x)',
  ])('is found in %s', (script) => {
    expect(evaluates(script, parseAst)).toBe(true);
  });

  test.each([
    'const text = "eval(1) and new Function(2)"',
    '// eval(1)',
    'engine.eval("1"); isFunction(x); my.Function("x")',
    'const docs = `an indirect (0,eval)(call)`',
  ])('is not found in %s', (script) => {
    expect(evaluates(script, parseAst)).toBe(false);
  });
});
