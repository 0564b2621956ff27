import { describe, expect, it } from 'vitest';
import { decoded, listUrl, readList, readRef, readUrl, writeUrl, type ListState, type UrlState } from './urlState';

describe('url state', () => {
  const cases: Record<string, { url: string; state: UrlState }> = {
    nothing: { url: '', state: {} },
    'a file, a line and a panel': {
      url: '?file=lib/util.ts&line=12&panel=console',
      state: { tab: { kind: 'file', path: 'lib/util.ts' }, line: 12, panel: 'console' },
    },
    'two editors': {
      url: '?file=main.ts&beside=lib/util.ts&line=3',
      state: { tab: { kind: 'file', path: 'main.ts' }, beside: { kind: 'file', path: 'lib/util.ts' }, line: 3 },
    },
    'a schema in the second editor': {
      url: '?besideSchema=input',
      state: { beside: { kind: 'schema', which: 'input' } },
    },
    'a schema and a run': {
      url: '?schema=output&run=r1',
      state: { tab: { kind: 'schema', which: 'output' }, run: 'r1' },
    },
  };
  for (const [name, { url, state }] of Object.entries(cases)) {
    it(name, () => {
      expect(readUrl(url)).toEqual(state);
      expect(writeUrl(state)).toBe(url);
    });
  }

  it('ignores what it does not know', () => {
    expect(readUrl('?panel=nonsense&line=-3&schema=x&file=')).toEqual({});
  });

  it('reads a reference', () => {
    expect(readRef('weather@1.0.0')).toEqual({ name: 'weather', version: '1.0.0' });
    expect(readRef('weather')).toEqual({ name: 'weather', version: undefined });
  });

  it('takes a part of an address for what it means, whatever it is', () => {
    expect(decoded('weather%401.0.0')).toBe('weather@1.0.0');
    expect(decoded('50%')).toBe('50%');
  });
});

describe('the address of a list', () => {
  it.each<[string, string, ListState]>([
    ['nothing', '/', {}],
    ['a search in code', '/?q=city+temp&code=true', { search: 'city temp', inCode: true }],
    ['all of it', '/?q=a&state=deleted&tag=x%26y&unused=30', { search: 'a', state: 'deleted', tag: 'x&y', unused: 30 }],
  ])('%s', (_, url, state) => {
    expect(listUrl(state)).toBe(url);
    expect(readList(url.slice(1))).toEqual(state);
  });

  it('ignores what it does not know', () => {
    expect(readList('?state=gone&unused=-3&code=1&tag=')).toEqual({});
  });
});
