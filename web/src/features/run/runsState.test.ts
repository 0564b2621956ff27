import { describe, expect, it } from 'vitest';
import { readRuns, runsUrl, sinceOf, type RunsState } from './runsState';

describe('the address of the runs', () => {
  it.each<[string, RunsState]>([
    ['/runs', {}],
    ['/runs?status=failed&agent=weather&range=24h', { status: 'failed', agent: 'weather', range: '24h' }],
  ])('%s', (url, state) => {
    expect(runsUrl(state)).toBe(url);
    expect(readRuns(url.slice('/runs'.length))).toEqual(state);
  });
  it('ignores what it does not know', () => {
    expect(readRuns('?status=gone&range=2y&agent=')).toEqual({});
  });
  it('says since when', () => {
    expect(sinceOf({ range: '1h' }, Date.UTC(2026, 0, 1, 1))).toBe('2026-01-01T00:00:00.000Z');
    expect(sinceOf({}, 0)).toBe('');
  });
});
