// Computes statistics and filters for the history of runs.
import type { RunStatus, RunSummary } from '../../api/types';
import { history as say } from '../../texts/run';

export type Kept = 'all' | 'succeeded' | 'other';

const unended: RunStatus[] = ['queued', 'running', 'awaiting_approval'];
export const hasEnded = ({ status }: { status: RunStatus }): boolean => !unended.includes(status);

export interface HistoryFilter {
  kept: Kept;
  /** Undefined means every version. */
  version: string | undefined;
}

export function narrow(runs: RunSummary[], { kept, version }: HistoryFilter): RunSummary[] {
  return runs.filter(
    (run) =>
      (kept === 'all' || (run.status === 'succeeded') === (kept === 'succeeded')) &&
      (version === undefined || run.version === version),
  );
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Describes the bars of the sparkline as text. */
export function sparkWords(runs: RunSummary[]): string {
  const failed = runs.filter((run) => run.status !== 'succeeded').length;
  return say.bars(runs.length, failed, median(runs.map((r) => r.totalMs)));
}
