import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../api/types';
import { hasEnded, median, narrow, sparkWords } from './history';

const run = (status: RunSummary['status'], version: string, totalMs: number): RunSummary =>
  ({ runId: `${status}${totalMs}`, status, version, totalMs }) as RunSummary;
const runs = [run('succeeded', 'draft', 4), run('failed', '1.0.0', 10), run('timed_out', '1.0.0', 6)];

describe('the runs before', () => {
  it.each<[string, Parameters<typeof narrow>[1], number[]]>([
    ['all of them', { kept: 'all', version: undefined }, [4, 10, 6]],
    ['what succeeded', { kept: 'succeeded', version: undefined }, [4]],
    ['what did not, of a version', { kept: 'other', version: '1.0.0' }, [10, 6]],
    ['the draft', { kept: 'all', version: 'draft' }, [4]],
  ])('are narrowed to %s', (_, filter, want) => {
    expect(narrow(runs, filter).map((r) => r.totalMs)).toEqual(want);
  });

  it('are described in words', () => {
    expect(sparkWords(runs)).toBe('3 runs, 2 failed, median 6.0 ms');
    expect(sparkWords(runs.slice(0, 1))).toBe('1 run, 0 failed, 4.0 ms');
  });

  it('have a median', () => {
    expect([median([]), median([3]), median([4, 1]), median([9, 1, 2])]).toEqual([0, 3, 2.5, 2]);
  });

  it('are bars once they have ended', () => {
    expect([run('running', '', 0), run('failed', '', 1)].filter(hasEnded)).toHaveLength(1);
  });
});
