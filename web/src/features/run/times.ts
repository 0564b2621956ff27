// Computes the timing of a run in one unit. The values are rounded so that the parts add up to the shown total.
import type { Metrics } from '../../api/types';
import { measured } from '../../texts/format';

export type Part = 'queued' | 'start' | 'run' | 'other';
export type Times = Record<Part | 'total', string> & { hasOther: boolean };

type Spent = Pick<Metrics, 'queuedMs' | 'startMs' | 'runMs' | 'totalMs'>;

export function timesOf({ queuedMs, startMs, runMs, totalMs }: Spent): Times {
  const { step, text } = scaleOf(totalMs);
  // The sums are rounded, and each part is a difference of two sums. So the parts add up exactly.
  const until = (ms: number): number => Math.round(Math.min(ms, totalMs) / step);
  const marks = [0, until(queuedMs), until(queuedMs + startMs), until(queuedMs + startMs + runMs), until(totalMs)];
  const part = (n: number): number => ((marks[n] ?? 0) - (marks[n - 1] ?? 0)) * step;
  return {
    queued: text(part(1)),
    start: text(part(2)),
    run: text(part(3)),
    other: text(part(4)),
    total: text(until(totalMs) * step),
    hasOther: part(4) > 0,
  };
}

function scaleOf(totalMs: number): { step: number; text: (ms: number) => string } {
  if (totalMs < 10) return { step: 0.01, text: (ms) => `${measured(ms, 2)} ms` };
  if (totalMs < 1000) return { step: 0.1, text: (ms) => `${measured(ms, 1)} ms` };
  if (totalMs < 60_000) return { step: 10, text: (ms) => `${measured(ms / 1000, 2)} s` };
  return { step: 1000, text: (ms) => `${measured(ms / 1000, 0)} s` };
}
