// Things to tell that have no place of their own. What went wrong stays until it is dismissed.
import { create } from 'zustand';

export interface Notice {
  id: number;
  kind: 'done' | 'failed';
  text: string;
  /** What can be done about it. */
  action?: { label: string; run: () => void };
}

export const useNotices = create<{ notices: Notice[] }>(() => ({ notices: [] }));

let next = 1;

export function notify(kind: Notice['kind'], text: string, action?: Notice['action']): void {
  const id = next++;
  const notice: Notice = action === undefined ? { id, kind, text } : { id, kind, text, action };
  useNotices.setState(({ notices }) => ({ notices: [...notices.slice(-3), notice] }));
  if (kind === 'done') setTimeout(() => dismiss(id), action === undefined ? 4000 : 12_000);
}

export function dismiss(id: number): void {
  useNotices.setState(({ notices }) => ({ notices: notices.filter((n) => n.id !== id) }));
}

/** What was told to somebody is nothing to the next one. */
export const dismissAll = (): void => useNotices.setState({ notices: [] });
