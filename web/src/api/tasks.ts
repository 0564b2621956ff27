// Calls and queries of tasks. They are in a module of their own, so that the first screen does not load them.
import { useQuery } from '@tanstack/react-query';
import { apiBase, request } from './http';
import { parseJson } from './json';
import { queryClient } from './queries';
import type { OverlayDiff, Task, TaskStatus } from './types';
import type { ListPage } from './verbs';
import { inWorkspace } from './workspace';

const key = ['tasks'] as const;
const taskPath = (id: string): string => `/tasks/${encodeURIComponent(id)}`;
/** A page of the newest tasks, all or in one state. */
export const listTasks = (status?: TaskStatus): Promise<ListPage<Task>> =>
  request(`/tasks?limit=100${status === undefined ? '' : `&status=${status}`}`);
export const getTask = (id: string): Promise<Task> => request(taskPath(id));
export const getTaskDiff = (id: string): Promise<OverlayDiff> => request(`${taskPath(id)}/diff`);

export type TaskEvent = { seq: number; at: string } & (
  | { kind: 'status'; data: { status: TaskStatus; attempt: number; message?: string } }
  /** An answer of the language model that was not usable. */
  | { kind: 'attempt'; data: { n: number; error: string; delayMs: number } }
);

/** Follows the events of a task after seq `from` until it has ended. Returns the function that stops following. */
export function followTask(id: string, from: number, onEvent: (event: TaskEvent) => void): () => void {
  const source = new EventSource(inWorkspace(`${apiBase}${taskPath(id)}/events?from=${String(from)}`));
  const accept = (message: MessageEvent<string>): void => onEvent(parseJson(message.data) as unknown as TaskEvent);
  for (const kind of ['status', 'attempt'] as const) source.addEventListener(kind, accept);
  return () => source.close();
}

export interface NewTask {
  /** An agent, or else a description. */
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
/** Decides about files of a task's changes as they were shown, or about all that are open. */
export const decideTask = (
  id: string,
  decision: 'accept' | 'reject',
  revision: number | undefined,
  files?: string[],
): Promise<Task> => request(`${taskPath(id)}/${decision}`, { method: 'POST', body: { files, revision } });

/** The newest tasks, and all that wait or are to be reviewed. They follow changes. */
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
/** A task. It follows changes until it has ended. */
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
    // The changes of an earlier attempt must not be accepted in place of those of this one.
    placeholderData: (before) => (before?.overlay.id === overlay ? before : undefined),
    staleTime: 0,
  });
/** Reads a task again. */
export const refreshTask = (id: string): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: [...key, 'one', id] });
export const refreshTasks = (): Promise<void> => queryClient.invalidateQueries({ queryKey: key });
