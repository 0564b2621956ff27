// Stores the IDs of the agents that the user marked as favourites, in this browser.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { isObject } from '../api/json';
import { isText } from '../api/storage';

interface Favourites {
  ids: string[];
}

// The number of favourites is limited, so that they cannot fill the browser's storage.
const most = 500;

/** Other code may have written the storage, so only texts are accepted. */
export function readFavourites(kept: unknown): Favourites {
  const ids = isObject(kept) ? kept['ids'] : undefined;
  return { ids: Array.isArray(ids) ? ids.filter(isText).slice(0, most) : [] };
}

const useFavourites = create<Favourites>()(
  persist((): Favourites => ({ ids: [] }), { name: 'atelier.favourites', merge: readFavourites }),
);

export const useFavouriteIds = (): readonly string[] => useFavourites((state) => state.ids);
export const useIsFavourite = (id: string): boolean => useFavourites((state) => state.ids.includes(id));

export const toggledIn = (ids: readonly string[], id: string): string[] =>
  ids.includes(id) ? ids.filter((other) => other !== id) : [id, ...ids].slice(0, most);

export function toggleFavourite(id: string): void {
  useFavourites.setState(({ ids }) => ({ ids: toggledIn(ids, id) }));
}
