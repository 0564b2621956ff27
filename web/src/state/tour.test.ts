import { beforeEach, expect, it } from 'vitest';
import { leaveTour, moveTour, offerTour, steps, useTour } from './tour';

beforeEach(() => useTour.setState({ step: undefined, done: false }));

it('has five steps, and is over after the last one', () => {
  offerTour();
  const seen = [useTour.getState().step];
  for (let n = 0; n < 5; n++) {
    moveTour(1);
    seen.push(useTour.getState().step);
  }
  expect(steps.length).toBe(5);
  expect(seen).toEqual([0, 1, 2, 3, 4, undefined]);
  expect(useTour.getState().done).toBe(true);
});

it('goes back to the first step and no further', () => {
  offerTour();
  moveTour(1);
  moveTour(-1);
  moveTour(-1);
  expect(useTour.getState().step).toBe(0);
});

it('is not offered again after it was left', () => {
  offerTour();
  leaveTour();
  offerTour();
  expect(useTour.getState().step).toBeUndefined();
});
