import { expect, it } from 'vitest';
import type { RuntimeState } from '../../api/types';
import { areaOf, followed, loadOf } from './load';

const state = (runtime: string, running: number, depth: number): RuntimeState =>
  ({ runtime, queue: { running, depth } }) as unknown as RuntimeState;

it('counts an engine with two languages once', () => {
  expect(loadOf([state('goja', 2, 1), state('goja', 2, 1), state('python', 3, 0)])).toEqual({ running: 5, waiting: 1 });
});

it('keeps the last samples, and draws them at the right end', () => {
  let samples = followed([], { running: 0, waiting: 0 });
  for (let n = 0; n < 150; n++) samples = followed(samples, { running: n, waiting: 0 });
  expect(samples.length).toBe(100);
  expect(samples.at(-1)).toEqual({ running: 149, waiting: 0 });
  expect(areaOf([0, 4], 4)).toBe('98.99,100 98.99,100.00 100.00,0.00 100,100');
});
