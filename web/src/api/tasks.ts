// Calls and queries for tasks. This code is in a separate module, so that the first screen does not load it.
import { useQuery } from '@tanstack/react-query';
import { apiBase, request } from './http';
import { parseJson } from './json';
import { queryClient } from './queries';
import type { OverlayDiff, Task, TaskStatus } from './types';
import type { ListPage } from './verbs';
import { inWorkspace } from './workspace';

const key = ['tasks'] as const;
const taskPath = (id: string): string => `/tasks/${encodeURIComponent(id)}`;
/** Reads a page of the newest tasks, either all or those in one state. */
export const listTasks = (status?: TaskStatus): Promise<ListPage<Task>> =>
  request(`/tasks?limit=100${status === undefined ? '' : `&status=${status}`}`);
export const getTask = (id: string): Promise<Task> => request(taskPath(id));
export const getTaskDiff = (id: string): Promise<OverlayDiff> => request(`${taskPath(id)}/diff`);

export type TaskEvent = { seq: number; at: string } & (
  | { kind: 'status'; data: { status: TaskStatus; attempt: number; message?: string } }
  /** An answer of the language model that was not usable. */
  | { kind: 'attempt'; data: { n: number; error: string; delayMs: number } }
);

/**
 * Follows the events of a task that come after `seq`, until the task has ended. Returns a function that stops
 * following.
 */
export function followTask(id: string, from: number, onEvent: (event: TaskEvent) => void): () => void {
  const source = new EventSource(inWorkspace(`${apiBase}${taskPath(id)}/events?from=${String(from)}`));
  const accept = (message: MessageEvent<string>): void => onEvent(parseJson(message.data) as unknown as TaskEvent);
  for (const kind of ['status', 'attempt'] as const) source.addEventListener(kind, accept);
  return () => source.close();
}

export interface NewTask {
  /** The body contains either an agent or a description. */
  agent?: string;
  version?: string;
  description?: string;
  language?: Task['language'];
  project: string;
  title: string;
  input: unknown;
  priority: number;
}
export const submitTask = (body: NewTask): Promise<Task> => request('/tasks', { method: 'POST', body });
export const cancelTask = (id: string): Promise<Task> => request(`${taskPath(id)}/cancel`, { method: 'POST' });
export const retryTask = (id: string, feedback: string): Promise<Task> =>
  request(`${taskPath(id)}/retry`, { method: 'POST', body: { feedback } });
/**
 * Decides about the given files of a task's changes, or about all open files. The changes must still have the revision
 * that the user has seen.
 */
export const decideTask = (
  id: string,
  decision: 'accept' | 'reject',
  revision: number | undefined,
  files?: string[],
): Promise<Task> => request(`${taskPath(id)}/${decision}`, { method: 'POST', body: { files, revision } });

/**
 * Reads the newest tasks, and all tasks that wait for a server or for a review. The lists are updated while they are
 * shown.
 */
export const useTasks = () =>
  useQuery({
    queryKey: [...key, 'board'],
    queryFn: async () => {
      const pages = await Promise.all([listTasks(), listTasks('reviewing'), listTasks('queued')]);
      return { items: pages.flatMap(({ items }) => items), more: pages.some(({ nextCursor }) => nextCursor !== '') };
    },
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data === undefined ? false : 2000),
  });
/** Reads a task. It is updated until the task has ended. */
export const useTaskOrder = (id: string) =>
  useQuery({
    queryKey: [...key, 'one', id],
    queryFn: () => getTask(id),
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.data && /^(accepted|rejected|errored)$/.test(state.data.status) ? false : 1000,
  });
export const useTaskDiff = (id: string, revision: number, overlay: string | undefined) =>
  useQuery({
    enabled: overlay !== undefined,
    queryKey: [...key, 'diff', id, revision],
    queryFn: () => getTaskDiff(id),
    // The previous changes stay on the screen only while the overlay is the same. Otherwise the user could accept the
    // changes of an earlier attempt.
    placeholderData: (before) => (before?.overlay.id === overlay ? before : undefined),
    staleTime: 0,
  });
/** Marks a task as outdated, so that it is read again. */
export const refreshTask = (id: string): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: [...key, 'one', id] });
export const refreshTasks = (): Promise<void> => queryClient.invalidateQueries({ queryKey: key });
