import { expect, test } from 'vitest';
import type { RunSummary } from '../../api/types';
import { latencyOf, quantile } from './latency';

const run = (totalMs: number, second: number, status: RunSummary['status'] = 'succeeded'): RunSummary => ({
  runId: String(second),
  agent: 'a',
  version: '1.0.0',
  status,
  language: 'bash',
  trigger: 'api',
  createdAt: new Date(second * 1000).toISOString(),
  totalMs,
  by: { id: 'u', type: 'user', name: 'Ada' },
  inputPreview: '',
  peakMemoryBytes: 0,
});

test('quantiles are values that occur', () => {
  expect(quantile([5, 1, 3, 2, 4], 0.5)).toBe(3);
  expect(quantile([5, 1, 3, 2, 4], 0.95)).toBe(5);
  expect(quantile([], 0.5)).toBe(0);
});

test('the scale covers whole powers of ten, oldest at the left', () => {
  const found = latencyOf([run(900, 30, 'failed'), run(20, 20), run(10, 10)]);
  expect(found?.ticks.map(({ ms }) => ms)).toEqual([10, 100, 1000]);
  expect(found?.points.map(({ x }) => x)).toEqual([100, 50, 0]);
  expect(found?.points[2]?.y).toBe(0);
  expect([found?.medianMs, found?.p95Ms, found?.failed]).toEqual([20, 900, 1]);
});

test('equal times and durations of zero stay in the picture', () => {
  const found = latencyOf([run(0, 1), run(0, 1)]);
  for (const { x, y } of found?.points ?? []) {
    expect(x).toBe(50);
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y).toBeLessThanOrEqual(100);
  }
});

test('one run is no picture', () => {
  expect(latencyOf([run(1, 1)])).toBeUndefined();
});
