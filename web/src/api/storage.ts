// Reads and writes the browser's storage. An older Studio, an extension or the user may have written the stored values,
// so every value is validated on reading. If the storage is blocked or full, the Studio works without stored values.
import { isObject } from './json';

export const local = (): Storage => localStorage;
/** The storage of this browser tab, which survives a reload. */
export const ofTab = (): Storage => sessionStorage;

/** Returns the stored value after parsing it, or undefined if it is missing or invalid. */
export function readStored<T>(key: string, read: (text: string) => T | undefined, storage = local): T | undefined {
  return withStorage(storage, (s) => {
    const text = s.getItem(key);
    return text === null ? undefined : read(text);
  });
}

/** Stores a text. Returns false if the storage is full or blocked. */
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

/** Returns a parser that accepts numbers within a range. */
export const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && value >= least && value <= most;

export const isOneOf =
  <T extends string>(...options: T[]) =>
  (value: unknown): value is T =>
    options.some((option) => option === value);

/** Returns the entries of an object that pass the check. For any other value it returns an empty object. */
export function entriesOf<T>(value: unknown, is: (value: unknown) => value is T): Record<string, T> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, never] => is(entry[1])));
}

/** Returns the stored settings. An invalid or missing setting has its initial value. */
export function settingsOf<T extends object>(
  kept: unknown,
  initial: T,
  read: { [K in keyof T]?: (value: unknown) => value is T[K] },
): T {
  if (!isObject(kept)) return initial;
  const good = Object.entries<((value: unknown) => boolean) | undefined>(read).filter(([key, is]) => is?.(kept[key]));
  return { ...initial, ...Object.fromEntries(good.map(([key]) => [key, kept[key]])) };
}
