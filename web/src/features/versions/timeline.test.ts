import { expect, it } from 'vitest';
import type { VersionSummary } from '../../api/types';
import { labelled, timelineOf } from './timeline';

const at = (version: string, publishedAt: string): VersionSummary => ({
  version,
  publishedAt,
  publishedBy: '',
  changelog: '',
  codeDigest: '',
  contentDigest: '',
  deprecated: false,
  digest: '',
  language: 'python',
  reference: '',
  runtime: 'python',
});

it('places versions by time and names the step of each', () => {
  const dots = timelineOf([
    at('2.0.0', '2026-01-11T00:00:00Z'),
    at('1.1.0', '2026-01-06T00:00:00Z'),
    at('1.0.0', '2026-01-01T00:00:00Z'),
  ]);
  expect(dots.map(({ version, x, step }) => [version.version, x, step])).toEqual([
    ['1.0.0', 0, 'major'],
    ['1.1.0', 50, 'minor'],
    ['2.0.0', 100, 'major'],
  ]);
});

it('keeps dots apart that are close in time, inside the line', () => {
  const dots = timelineOf(Array.from({ length: 40 }, (_, n) => at(`1.0.${n}`, '2026-01-01T00:00:00Z')));
  const xs = dots.map(({ x }) => x);
  expect(Math.max(...xs)).toBeLessThanOrEqual(100.001);
  expect(xs.every((x, i) => i === 0 || x > (xs[i - 1] ?? 0))).toBe(true);
  expect(timelineOf([])).toEqual([]);
});

it('labels the versions that fit, the larger steps first', () => {
  const dots = timelineOf([
    at('1.0.0', '2026-01-01T00:00:00Z'),
    at('1.0.1', '2026-01-10T00:00:00Z'),
    at('2.0.0', '2026-01-12T00:00:00Z'),
    at('2.0.1', '2026-01-20T00:00:00Z'),
    at('2.0.2', '2026-01-21T00:00:00Z'),
  ]);
  expect([...labelled(dots, 640)].sort()).toEqual(['1.0.0', '1.0.1', '2.0.0', '2.0.2']);
  expect([...labelled(dots, 300)].sort()).toEqual(['1.0.0', '2.0.0', '2.0.2']);
  expect([...labelled([], 300)]).toEqual([]);
});
