// Stores notices that do not belong to an element of the page. Errors stay until the user dismisses them.
import { create } from 'zustand';

export interface Notice {
  id: number;
  kind: 'done' | 'failed';
  text: string;
  /** An action that the notice offers. */
  action?: { label: string; run: () => void };
}

export const useNotices = create<{ notices: Notice[] }>(() => ({ notices: [] }));

let next = 1;

export function notify(kind: Notice['kind'], text: string, action?: Notice['action']): void {
  const id = next++;
  const notice: Notice = action === undefined ? { id, kind, text } : { id, kind, text, action };
  useNotices.setState(({ notices }) => ({ notices: [...notices.slice(-3), notice] }));
  if (kind === 'done') setTimeout(() => dismiss(id), action === undefined ? Math.max(4000, text.length * 60) : 12_000);
}

export function dismiss(id: number): void {
  useNotices.setState(({ notices }) => ({ notices: notices.filter((n) => n.id !== id) }));
}

/** Notices are removed when another user signs in. */
export const dismissAll = (): void => useNotices.setState({ notices: [] });
