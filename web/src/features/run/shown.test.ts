import { describe, expect, it } from 'vitest';
import type { Json } from '../../api/json';
import { imagesOf, looksOf, step, tablesOf } from './shown';

const dot = 'data:image/png;base64,iVBORw0KGgo=';

describe('an output', () => {
  it.each<[string, Json, string[]]>([
    ['a number', 3, ['tree']],
    ['rows', [{ a: 1 }, { b: 'x' }], ['tree', 'table']],
    ['rows in a field', { days: [{ a: 1 }] }, ['tree', 'table']],
    ['rows with a list inside', [{ a: [1] }], ['tree']],
    ['lines', 'a\nb', ['tree', 'text']],
    ['a picture in a field', { plot: dot }, ['tree', 'image']],
    ['a picture that could carry a script', 'data:image/svg+xml;base64,PHN2Zy8+', ['tree']],
    ['a picture that is none', 'data:image/png;base64,"onerror=x', ['tree']],
  ])('that is %s', (_, output, looks) => {
    expect(looksOf(output)).toEqual(looks);
  });

  it('has every column of its rows', () => {
    expect(tablesOf({ days: [{ a: 1 }, { 'b c': null }] })).toEqual([
      {
        path: '$.days',
        value: {
          columns: ['a', 'b c'],
          rows: [
            [1, ''],
            ['', null],
          ],
        },
      },
    ]);
  });

  it('is found by its path', () => {
    expect([step('a'), step(0), step('b c')].join('')).toBe('.a[0]["b c"]');
    expect(imagesOf(dot).map(({ path }) => path)).toEqual(['$']);
  });
});
