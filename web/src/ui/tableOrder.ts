// Sorts and filters the rows of tables.

export interface Order {
  column: string;
  descending: boolean;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/**
 * Sorts by numbers or by words. Numbers in words are compared as numbers, so 1.9.0 comes before 1.10.0. Equal items
 * keep their order.
 */
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

/** Returns the items that contain every word that the user typed. */
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

/**
 * Returns the columns in the order of a phone. The buttons are second, as on the screen, so that Tab moves in the
 * visible order.
 */
export function phoneOrder<T extends { acts?: boolean }>(columns: readonly T[]): T[] {
  const [first, ...rest] = columns;
  if (!first) return [];
  return [first, ...rest.filter(({ acts = false }) => acts), ...rest.filter(({ acts = false }) => !acts)];
}
