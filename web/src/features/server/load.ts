// The load of the server while its page is open.
import type { RuntimeState } from '../../api/types';

export interface Load {
  running: number;
  waiting: number;
}

/** More than three minutes of samples, one each two seconds. */
const most = 100;

/** The runs of all engines. An engine stands in the list once for each of its languages, with the same counters. */
export function loadOf(states: readonly RuntimeState[]): Load {
  const engines = new Map(states.map(({ runtime, queue }) => [runtime, queue]));
  const sum = (of: (queue: RuntimeState['queue']) => number): number =>
    [...engines.values()].reduce((total, queue) => total + of(queue), 0);
  return { running: sum(({ running }) => running), waiting: sum(({ depth }) => depth) };
}

export const followed = (before: readonly Load[], now: Load): Load[] => [...before, now].slice(-most);

/** The outline of an area in a picture of 100 by 100, for values up to `highest`. */
export function areaOf(values: readonly number[], highest: number): string {
  const x = (i: number): number => 100 - ((values.length - 1 - i) / (most - 1)) * 100;
  const points = values.map(
    (value, i) => `${x(i).toFixed(2)},${(100 - (value / Math.max(1, highest)) * 100).toFixed(2)}`,
  );
  return [`${x(0).toFixed(2)},100`, ...points, `100,100`].join(' ');
}
