import { describe, expect, it } from 'vitest';
import { narrowed, ordered, phoneOrder } from './tableOrder';

describe('tables', () => {
  it('sort versions by their numbers, in both directions', () => {
    const versions = ['1.10.0', '1.9.0', '1.2.0'];
    const by = (version: string): string => version;
    expect(ordered(versions, by, false)).toEqual(['1.2.0', '1.9.0', '1.10.0']);
    expect(ordered(versions, by, true)).toEqual(['1.10.0', '1.9.0', '1.2.0']);
    expect(versions).toEqual(['1.10.0', '1.9.0', '1.2.0']);
  });

  it('sort numbers by size and keep the order of equal ones', () => {
    const items = [
      { name: 'b', n: 10 },
      { name: 'a', n: 9 },
      { name: 'c', n: 9 },
    ];
    expect(ordered(items, ({ n }) => n, false).map(({ name }) => name)).toEqual(['a', 'c', 'b']);
    expect(ordered(items, undefined, true)).toBe(items);
  });

  it('keep the items with every word, in any case', () => {
    const items = ['API_KEY of weather', 'token of slugger'];
    const self = (item: string): string => item;
    expect(narrowed(items, ' ', self)).toBe(items);
    expect(narrowed(items, 'api WEATHER', self)).toEqual(['API_KEY of weather']);
    expect(narrowed(items, 'api slugger', self)).toEqual([]);
  });
});

it('on a phone the buttons follow the first column, as they are seen', () => {
  const columns = [{ key: 'name' }, { key: 'role' }, { key: 'since' }, { key: 'acts', acts: true }];
  expect(phoneOrder(columns).map(({ key }) => key)).toEqual(['name', 'acts', 'role', 'since']);
  expect(phoneOrder([])).toEqual([]);
});
