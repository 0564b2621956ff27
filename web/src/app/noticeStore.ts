// Things to tell that have no place of their own. What went wrong stays until it is dismissed.
import { create } from 'zustand';

export interface Notice {
  id: number;
  kind: 'done' | 'failed';
  text: string;
}

export const useNotices = create<{ notices: Notice[] }>(() => ({ notices: [] }));

let next = 1;

export function notify(kind: Notice['kind'], text: string): void {
  const id = next++;
  useNotices.setState(({ notices }) => ({ notices: [...notices.slice(-3), { id, kind, text }] }));
  if (kind === 'done') setTimeout(() => dismiss(id), 4000);
}

export function dismiss(id: number): void {
  useNotices.setState(({ notices }) => ({ notices: notices.filter((n) => n.id !== id) }));
}
