import { expect, test } from 'vitest';
import { readFavourites, toggledIn } from './favourites';

test('a favourite is added first and removed by the second click', () => {
  expect(toggledIn(['a'], 'b')).toEqual(['b', 'a']);
  expect(toggledIn(['b', 'a'], 'a')).toEqual(['b']);
});

test('the list is bounded', () => {
  const full = Array.from({ length: 500 }, (_, n) => String(n));
  expect(toggledIn(full, 'new')).toHaveLength(500);
  expect(toggledIn(full, 'new')[0]).toBe('new');
});

test.each([[undefined], ['text'], [{ ids: 'text' }], [{ ids: [1, null] }], [[]]])(
  'a broken store %j is empty',
  (kept) => {
    expect(readFavourites(kept)).toEqual({ ids: [] });
  },
);

test('a stored list is read', () => {
  expect(readFavourites({ ids: ['a', 2, 'b'] })).toEqual({ ids: ['a', 'b'] });
});
