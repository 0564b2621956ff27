import { describe, expect, it } from 'vitest';
import { pathFault, rowsOf, severitiesOf } from './tree';

describe('rowsOf', () => {
  it('shows folders first, and what is in an open one', () => {
    const rows = rowsOf(['main.ts', 'lib/b.ts', 'lib/a.ts', 'data/x.json'], new Set(['data']));
    expect(rows.map((r) => `${r.level} ${r.path}`)).toEqual([
      '1 data',
      '1 lib',
      '2 lib/a.ts',
      '2 lib/b.ts',
      '1 main.ts',
    ]);
    expect(rows.at(-1)).toMatchObject({ setSize: 3, position: 3 });
  });
});

describe('pathFault', () => {
  const taken = ['main.ts', 'lib/a.ts'];
  for (const path of [
    '',
    '/a',
    'a//b',
    '../a',
    'main.ts',
    'lib',
    'main.ts/x',
    'a\\b',
    'Main.ts',
    'Lib/A.ts',
    'MAIN.TS/x',
    '.env',
    'lib/.x/a',
    'agent.yaml',
  ]) {
    it(`refuses ${JSON.stringify(path)}`, () => expect(pathFault(path, taken)).toBeDefined());
  }
  it('takes a new file in a folder', () => expect(pathFault('lib/b.ts', taken)).toBeUndefined());
});

describe('severitiesOf', () => {
  it('gives a folder the worst problem of its files', () => {
    const found = severitiesOf([
      { path: 'lib/a.ts', severity: 'warning' },
      { path: 'lib/b.ts', severity: 'error' },
      { path: 'lib/a.ts', severity: 'warning' },
    ]);
    expect([...found].sort()).toEqual([
      ['lib', 'error'],
      ['lib/a.ts', 'warning'],
      ['lib/b.ts', 'error'],
    ]);
  });
});
