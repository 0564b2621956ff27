// Sorts the list of runs.
import { finalStatus } from '../../agent/runStatus';
import type { RunSummary } from '../../api/types';
import { ordered, type Order } from '../../ui/tableOrder';
import { hasEnded } from './history';

export const newestFirst: Order = { column: 'when', descending: true };

const columns: Record<string, (run: RunSummary) => string | number> = {
  state: (run) => finalStatus(run).text,
  agent: ({ agent, version }) => `${agent} ${version}`,
  by: ({ by }) => by.name,
  time: (run) => (hasEnded(run) ? run.totalMs : -1),
  when: ({ createdAt }) => Date.parse(createdAt),
};

/**
 * The first click on a column puts the slowest or newest runs first, and sorts names alphabetically. A second click
 * reverses the order.
 */
export const nextOrder = (order: Order, column: string): Order => ({
  column,
  descending: order.column === column ? !order.descending : column === 'time' || column === 'when',
});

/** Returns the loaded runs in an order. The argument is sorted by time, newest first. */
export const sortedRuns = (runs: readonly RunSummary[], order: Order): readonly RunSummary[] =>
  order.column === newestFirst.column && order.descending
    ? runs
    : ordered(runs, columns[order.column], order.descending);
