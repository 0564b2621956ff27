// The order and the filter of tables.

export interface Order {
  column: string;
  descending: boolean;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Sorts by numbers or by words, as people count: 1.9.0 before 1.10.0. Equal items keep their order. */
export function ordered<T>(
  items: readonly T[],
  by: ((item: T) => string | number) | undefined,
  descending: boolean,
): readonly T[] {
  if (!by) return items;
  const turn = descending ? -1 : 1;
  return [...items].sort((a, b) => {
    const [x, y] = [by(a), by(b)];
    return turn * (typeof x === 'number' && typeof y === 'number' ? x - y : collator.compare(String(x), String(y)));
  });
}

/** The items that contain every typed word. */
export function narrowed<T>(items: readonly T[], typed: string, words: (item: T) => string): readonly T[] {
  const wanted = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (wanted.length === 0) return items;
  return items.filter((item) => {
    const text = words(item).toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** The columns of a phone: the buttons come second, as they are seen, so that Tab follows the eye. */
export function phoneOrder<T extends { acts?: boolean }>(columns: readonly T[]): T[] {
  const [first, ...rest] = columns;
  if (!first) return [];
  return [first, ...rest.filter(({ acts = false }) => acts), ...rest.filter(({ acts = false }) => !acts)];
}
