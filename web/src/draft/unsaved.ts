// Stores edits that the server has not stored yet, in storage that survives the page. Each tab stores its own edits, so
// that a save in one tab does not delete the edits of another.
import { isObject, type JsonObject } from '../api/json';
import type { Content } from './session';

/** The part of localStorage that this module uses. */
export type DraftStorage = Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>;

interface Kept {
  at: number;
  content: Content;
}

const prefixOf = (id: string): string => `atelier.draft.${id}.`;

export function storeEdits(shelf: DraftStorage, id: string, tab: string, content: Content, at: number): void {
  shelf.setItem(prefixOf(id) + tab, JSON.stringify({ at, content } satisfies Kept));
}

export function removeEdits(shelf: DraftStorage, id: string, tab: string): void {
  shelf.removeItem(prefixOf(id) + tab);
}

/**
 * Returns this tab's stored edits. If there are none, it returns the newest edits of another tab and assigns them to
 * this tab.
 */
export function readEdits(shelf: DraftStorage, id: string, tab: string): Content | undefined {
  const found = Array.from({ length: shelf.length }, (_, n) => shelf.key(n) ?? '')
    .filter((key) => key.startsWith(prefixOf(id)))
    .map((key) => ({ key, kept: read(shelf.getItem(key)) }));
  const own = found.find(({ key, kept }) => key === prefixOf(id) + tab && kept);
  const newest = own ?? found.sort((a, b) => (b.kept?.at ?? 0) - (a.kept?.at ?? 0))[0];
  if (!newest?.kept) return undefined;
  shelf.removeItem(newest.key);
  storeEdits(shelf, id, tab, newest.kept.content, newest.kept.at);
  return newest.kept.content;
}

function read(text: string | null): Kept | undefined {
  try {
    const kept: unknown = text === null ? undefined : JSON.parse(text);
    return isKept(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Checks only the fields that the screens need. The server validates the other fields when the draft is saved. */
const isKept = (kept: unknown): kept is Kept & JsonObject =>
  isObject(kept) &&
  typeof kept['at'] === 'number' &&
  isObject(kept['content']) &&
  isObject(kept['content']['about']) &&
  isObject(kept['content']['draft']) &&
  isObject(kept['content']['draft']['files']);
