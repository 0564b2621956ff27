import { describe, expect, it } from 'vitest';
import { searchFiles } from './search';

const files = { 'b.ts': 'one\nTwo two\n', 'a.ts': 'two', 'c.bin': { base64: 'dHdv' } };

describe('searching files', () => {
  it('finds lines in the order of their files', () => {
    const { hits } = searchFiles(files, 'two', false);
    expect(hits.map(({ path, line, at, length }) => [path, line, at, length])).toEqual([
      ['a.ts', 1, [0], 3],
      ['b.ts', 2, [0, 4], 3],
    ]);
  });
  it('marks no match within another', () =>
    expect(searchFiles({ a: 'aaaaa' }, 'aa', true).hits[0]?.at).toEqual([0, 2]));
  it('can tell cases apart', () => {
    expect(searchFiles(files, 'Two', true).hits).toHaveLength(1);
    expect(searchFiles(files, 'TWO', true).hits).toHaveLength(0);
  });
  it('shows the match of a long line, and ends somewhere', () => {
    const [hit] = searchFiles({ a: `${'x'.repeat(1000)}needle` }, 'needle', true).hits;
    expect(hit?.at.map((at) => hit.text.slice(at, at + hit.length))).toEqual(['needle']);
    expect(searchFiles({ a: 'x\n'.repeat(600) }, 'x', true)).toMatchObject({ more: true });
  });
});
