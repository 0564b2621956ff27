// What the browser keeps between visits. Anybody may have written it: an older Studio, an extension, a hand. So whatever is
// read from it is looked at before it is believed, and a storage that is forbidden or full only costs the convenience.
import { isObject } from './json';

export const local = (): Storage => localStorage;
/** Of this tab alone, also after it was loaded anew. */
export const ofTab = (): Storage => sessionStorage;

/** What is kept under the key, as the reader makes it out; undefined when there is nothing, or nothing it can use. */
export function readKept<T>(key: string, read: (text: string) => T | undefined, storage = local): T | undefined {
  return withStorage(storage, (s) => {
    const text = s.getItem(key);
    return text === null ? undefined : read(text);
  });
}

/** Keeps the text; false when the browser has no room for it. */
export const keep = (key: string, text: string, storage = local): boolean =>
  withStorage(storage, (s) => {
    s.setItem(key, text);
    return true;
  }) ?? false;

export const forgetKept = (key: string): void => withStorage(local, (s) => s.removeItem(key));

export function withStorage<T>(storage: () => Storage, act: (storage: Storage) => T): T | undefined {
  try {
    return act(storage());
  } catch {
    return undefined;
  }
}

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isSwitch = (value: unknown): value is boolean => typeof value === 'boolean';

/** A number from the least to the most. */
export const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && value >= least && value <= most;

export const isOneOf =
  <T extends string>(...options: T[]) =>
  (value: unknown): value is T =>
    options.some((option) => option === value);

/** The entries of an object that are of the kind asked for; none of anything else. */
export function entriesOf<T>(value: unknown, is: (value: unknown) => value is T): Record<string, T> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, never] => is(entry[1])));
}

/** Each setting that is kept and is what it should be; the initial one for every other. */
export function settingsOf<T extends object>(
  kept: unknown,
  initial: T,
  read: { [K in keyof T]?: (value: unknown) => value is T[K] },
): T {
  if (!isObject(kept)) return initial;
  const good = Object.entries<((value: unknown) => boolean) | undefined>(read).filter(([key, is]) => is?.(kept[key]));
  return { ...initial, ...Object.fromEntries(good.map(([key]) => [key, kept[key]])) };
}
