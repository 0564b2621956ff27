// Stores named filters of the run list in this browser.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { isObject } from '../api/json';
import { isText } from '../api/storage';

export interface RunView {
  name: string;
  /** The query string of the URL, for example "status=failed&range=24h". */
  query: string;
}

interface RunViews {
  views: RunView[];
}

/** The number of views is limited, so that they cannot fill the browser's storage. */
export const mostViews = 50;
export const longestName = 60;

/** Other code may have written the storage, so each entry is checked. */
export function readRunViews(stored: unknown): RunViews {
  const views = isObject(stored) ? stored['views'] : undefined;
  if (!Array.isArray(views)) return { views: [] };
  const valid = views.flatMap((view: unknown): RunView[] => {
    if (!isObject(view)) return [];
    const [name, query] = [view['name'], view['query']];
    return isText(name) && isText(query) && name !== '' && name.length <= longestName ? [{ name, query }] : [];
  });
  return { views: valid.slice(0, mostViews) };
}

/** Returns the views with an additional one, sorted by name. It replaces a view with the same name. */
export function withView(views: readonly RunView[], view: RunView): RunView[] {
  const others = views.filter(({ name }) => name !== view.name);
  return [...others, view].sort((a, b) => a.name.localeCompare(b.name)).slice(0, mostViews);
}

const useStore = create<RunViews>()(
  persist((): RunViews => ({ views: [] }), { name: 'atelier.runViews', merge: readRunViews }),
);

export const useRunViews = (): readonly RunView[] => useStore((state) => state.views);

export function saveRunView(view: RunView): void {
  useStore.setState(({ views }) => ({ views: withView(views, view) }));
}

export function deleteRunView(name: string): void {
  useStore.setState(({ views }) => ({ views: views.filter((view) => view.name !== name) }));
}
