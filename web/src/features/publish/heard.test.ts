import { describe, expect, it } from 'vitest';
import type { Advice, ReplayReport } from '../../api/types';
import { differs, heard } from './heard';

const patch: Advice = {
  base: '1.2.3',
  bump: 'patch',
  version: '1.2.4',
  reasons: [{ bump: 'patch', pointer: '/files/main.js', message: 'main.js changed' }],
};
const report = (counts: Record<string, number>): ReplayReport => ({
  agent: 'a',
  version: '1.2.3',
  counts,
  items: Object.entries(counts).flatMap(([verdict, n]) =>
    Array.from({ length: n }, () => ({
      verdict: verdict as 'same',
      slower: false,
      before: { runMs: 1 },
      after: { runMs: 1 },
    })),
  ),
});

describe('advice that hears a replay', () => {
  it.each([
    ['the same outputs', { same: 2, fixed: 1 }, 'patch', '1.2.4'],
    ['another output', { same: 1, changed: 1 }, 'minor', '1.3.0'],
    ['a run that fails', { changed: 1, fails: 1 }, 'major', '2.0.0'],
    ['an input that is refused', { refused: 1 }, 'major', '2.0.0'],
  ])('%s', (_, counts, bump, version) =>
    expect(heard(patch, '1.2.3', report(counts))).toMatchObject({ bump, version }),
  );
  it('says how many, before what asks for less', () =>
    expect(heard(patch, '1.2.3', report({ same: 1, changed: 1 })).reasons.map(({ message }) => message)).toEqual([
      '1 of 2 recorded inputs gives another output',
      'main.js changed',
    ]));
  it('is never made smaller', () =>
    expect(heard({ ...patch, bump: 'major', version: '2.0.0' }, '1.2.3', report({ changed: 1 }))).toMatchObject({
      bump: 'major',
      version: '2.0.0',
    }));
  it('counts below 1.0.0 as the server does', () => {
    expect(heard({ ...patch, version: '0.2.4' }, '0.2.3', report({ fails: 1 })).version).toBe('0.3.0');
    expect(heard({ ...patch, version: '0.2.4' }, '0.2.3', report({ changed: 1 })).version).toBe('0.2.4');
  });
  it('blames no draft that is the version', () => {
    const none: Advice = { ...patch, bump: 'none', reasons: [] };
    expect(heard(none, '1.2.3', report({ changed: 1 }))).toBe(none);
    expect(differs(report({ changed: 1 }))).toBe(true);
    expect(differs(report({ same: 1 }))).toBe(false);
  });
});
