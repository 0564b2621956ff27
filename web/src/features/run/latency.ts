// Computes the positions of a chart of durations over time. The scale of the durations is logarithmic.
import type { RunSummary } from '../../api/types';

export interface Point {
  run: RunSummary;
  /** The position in percent of the width and of the height. */
  x: number;
  y: number;
}
export interface Latency {
  points: Point[];
  ticks: { ms: number; y: number }[];
  medianMs: number;
  medianY: number;
  p95Ms: number;
  failed: number;
  /** The times of the oldest and the newest run. */
  from: string;
  to: string;
}

/** Returns a percentile: the smallest value such that at least the given share of the values is not larger. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Returns the chart of finished runs. It needs at least two. */
export function latencyOf(runs: readonly RunSummary[]): Latency | undefined {
  const times = runs.map((run) => Date.parse(run.createdAt));
  if (runs.length < 2) return undefined;
  const durations = runs.map((run) => Math.max(run.totalMs, 0.01));
  const low = Math.floor(Math.log10(Math.min(...durations)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...durations))));
  const height = (ms: number): number => ((Math.log10(ms) - low) / (high - low)) * 100;
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  const medianMs = quantile(durations, 0.5);
  return {
    points: runs.map((run, i) => ({
      run,
      x: newest === oldest ? 50 : (((times[i] ?? oldest) - oldest) / (newest - oldest)) * 100,
      y: height(durations[i] ?? 1),
    })),
    ticks: Array.from({ length: high - low + 1 }, (_, n) => ({ ms: 10 ** (low + n), y: (n / (high - low)) * 100 })),
    medianMs,
    medianY: height(medianMs),
    p95Ms: quantile(durations, 0.95),
    failed: runs.filter(({ status }) => status !== 'succeeded').length,
    from: new Date(oldest).toISOString(),
    to: new Date(newest).toISOString(),
  };
}
