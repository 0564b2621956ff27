import type { Task } from '../../api/types';

export type ColumnName = 'queued' | 'working' | 'reviewing' | 'decided' | 'errored';

/** The columns of the board, from left to right. */
export const columnNames: readonly ColumnName[] = ['queued', 'working', 'reviewing', 'decided', 'errored'];

const columnOf: Record<Task['status'], ColumnName> = {
  queued: 'queued',
  spawning: 'working',
  generating: 'working',
  executing: 'working',
  submitting: 'working',
  reviewing: 'reviewing',
  accepted: 'decided',
  rejected: 'decided',
  errored: 'errored',
};

/** Sorts tasks into the columns. If a task is in several lists, it is shown once, in its newest revision. */
export function columnsOf(tasks: readonly Task[]): Record<ColumnName, Task[]> {
  const newest = new Map<string, Task>();
  for (const task of tasks) {
    const known = newest.get(task.id);
    if (known === undefined || known.revision < task.revision) newest.set(task.id, task);
  }
  const columns: Record<ColumnName, Task[]> = { queued: [], working: [], reviewing: [], decided: [], errored: [] };
  for (const task of newest.values()) columns[columnOf[task.status]].push(task);
  for (const name of columnNames) columns[name].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  return columns;
}

/** Whether the state of a task may change without an action of the user. */
export const moving = (status: Task['status']): boolean =>
  columnOf[status] === 'queued' || columnOf[status] === 'working';
