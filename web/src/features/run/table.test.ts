import { expect, test } from 'vitest';
import { csvOf, sortedRows } from './table';

test('rows sort by number, then by text, and stay in order without one', () => {
  const rows = [['b10'], [10], ['b9'], [9], [null]];
  expect(sortedRows(rows, undefined)).toBe(rows);
  expect(sortedRows(rows, { column: 0, descending: false })).toEqual([[9], [10], ['b9'], ['b10'], [null]]);
  expect(sortedRows([['a'], ['b']], { column: 0, descending: true })).toEqual([['b'], ['a']]);
});

test('CSV quotes, keeps numbers and disarms formulas', () => {
  const rows = [
    ['a "b", c', -1],
    ['=SUM(A1)', null],
  ];
  expect(csvOf({ columns: ['text', 'n,m'], rows })).toBe('text,"n,m"\r\n"a ""b"", c",-1\r\n\'=SUM(A1),\r\n');
});
