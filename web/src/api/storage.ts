// Browser storage. Anyone may have written its values: an older Studio, an extension, a user. So every value is
// validated on reading. If storage is blocked or full, nothing else fails.
import { isObject } from './json';

export const local = (): Storage => localStorage;
/** The storage of this tab, which survives a reload. */
export const ofTab = (): Storage => sessionStorage;

/** Returns the stored value as the reader parses it, or undefined if it is missing or invalid. */
export function readStored<T>(key: string, read: (text: string) => T | undefined, storage = local): T | undefined {
  return withStorage(storage, (s) => {
    const text = s.getItem(key);
    return text === null ? undefined : read(text);
  });
}

/** Stores the text. Returns false if storage is full or blocked. */
export const keep = (key: string, text: string, storage = local): boolean =>
  withStorage(storage, (s) => {
    s.setItem(key, text);
    return true;
  }) ?? false;

export const removeStored = (key: string): void => withStorage(local, (s) => s.removeItem(key));

export function withStorage<T>(storage: () => Storage, act: (storage: Storage) => T): T | undefined {
  try {
    return act(storage());
  } catch {
    return undefined;
  }
}

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isSwitch = (value: unknown): value is boolean => typeof value === 'boolean';

/** Accepts numbers within a range. */
export const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && value >= least && value <= most;

export const isOneOf =
  <T extends string>(...options: T[]) =>
  (value: unknown): value is T =>
    options.some((option) => option === value);

/** Returns the entries of an object that pass the check; an empty object for any other value. */
export function entriesOf<T>(value: unknown, is: (value: unknown) => value is T): Record<string, T> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, never] => is(entry[1])));
}

/** Returns the stored settings that are valid, and the initial value for all others. */
export function settingsOf<T extends object>(
  kept: unknown,
  initial: T,
  read: { [K in keyof T]?: (value: unknown) => value is T[K] },
): T {
  if (!isObject(kept)) return initial;
  const good = Object.entries<((value: unknown) => boolean) | undefined>(read).filter(([key, is]) => is?.(kept[key]));
  return { ...initial, ...Object.fromEntries(good.map(([key]) => [key, kept[key]])) };
}
