import { describe, expect, it } from 'vitest';
import { timesOf } from './times';

describe('the times of a run', () => {
  it.each([
    [{ queuedMs: 0.049, startMs: 3.449, runMs: 12.449, totalMs: 16.6 }],
    [{ queuedMs: 0.004, startMs: 0.004, runMs: 0.004, totalMs: 0.012 }],
    [{ queuedMs: 0.06, startMs: 33.33, runMs: 66.66, totalMs: 100.04 }],
    [{ queuedMs: 4, startMs: 4, runMs: 1234, totalMs: 1249 }],
    [{ queuedMs: 400, startMs: 400, runMs: 61_300, totalMs: 62_100 }],
    // Parts that are measured separately may exceed the total slightly.
    [{ queuedMs: 1, startMs: 2, runMs: 3.02, totalMs: 6 }],
  ])('make the total: %o', (spent) => {
    const { total, queued, start, run, other } = timesOf(spent);
    const sum = [queued, start, run, other].reduce((all, text) => all + Number.parseFloat(text), 0);
    expect(sum.toFixed(2)).toBe(Number.parseFloat(total).toFixed(2));
    expect(new Set([total, queued, start, run, other].map((text) => text.split(' ')[1])).size).toBe(1);
  });
  it('has a rest only where one can be seen', () => {
    expect(timesOf({ queuedMs: 1, startMs: 2, runMs: 3, totalMs: 6.5 })).toMatchObject({
      hasOther: true,
      other: '0.50 ms',
      total: '6.50 ms',
    });
    expect(timesOf({ queuedMs: 1, startMs: 2, runMs: 3, totalMs: 6.001 }).hasOther).toBe(false);
  });
});
