import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../api/types';
import { newestFirst, nextOrder, sortedRuns } from './runsOrder';

const run = (runId: string, rest: Partial<RunSummary>): RunSummary =>
  ({
    runId,
    status: 'succeeded',
    agent: 'a',
    version: '1.0.0',
    totalMs: 1,
    by: { name: 'Ada' },
    ...rest,
  }) as RunSummary;
const runs = [
  run('third', { createdAt: '2026-11-27T12:00:03Z', totalMs: 5, agent: 'b' }),
  run('second', { createdAt: '2026-11-27T12:00:02Z', totalMs: 90, status: 'failed' }),
  run('first', { createdAt: '2026-11-27T12:00:01Z', totalMs: 0, status: 'running' }),
];
const idsAfter = (...columns: string[]): string[] =>
  sortedRuns(runs, columns.reduce(nextOrder, newestFirst)).map(({ runId }) => runId);

describe('the list of runs', () => {
  it('starts with the newest run, and with the oldest after a click', () => {
    expect(sortedRuns(runs, newestFirst)).toBe(runs);
    expect(idsAfter('when')).toEqual(['first', 'second', 'third']);
  });

  it('starts with the slowest run when it is sorted by duration, and ends with runs that have not ended', () => {
    expect(idsAfter('time')).toEqual(['second', 'third', 'first']);
    expect(idsAfter('time', 'time')).toEqual(['first', 'third', 'second']);
  });

  it('sorts by names in the order of the alphabet', () => {
    expect(idsAfter('agent')).toEqual(['second', 'first', 'third']);
    expect(idsAfter('state')).toEqual(['second', 'first', 'third']);
  });
});
