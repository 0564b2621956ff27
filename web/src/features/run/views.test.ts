import { expect, test } from 'vitest';
import { viewsOf } from './views';

const hinted = (view: unknown) => ({ type: 'object', properties: { part: { 'x-view': view as string } } });
const chart = { chart: 'line', x: 'day', y: ['high'] };
const kinds = (value: unknown, view: unknown) =>
  viewsOf({ part: value as string }, hinted(view)).map((found) => ('message' in found ? found.message : found.kind));

test('texts, rows and charts are shown as the schema asks', () => {
  expect(kinds('# Hello', 'markdown')).toEqual(['markdown']);
  expect(kinds([{ a: 1 }], 'table')).toEqual(['table']);
  expect(kinds([{ day: 1, high: 2 }], chart)).toEqual(['chart']);
  expect(viewsOf('# Hello', { type: 'string', 'x-view': 'markdown' })).toEqual([
    { path: '$', kind: 'markdown', text: '# Hello' },
  ]);
});

test('without a hint or a value there is no view', () => {
  expect(viewsOf({ part: 1 }, { properties: { part: {} } })).toEqual([]);
  expect(viewsOf({}, hinted('markdown'))).toEqual([]);
  expect(viewsOf(null, true)).toEqual([]);
});

test.each([
  [7, 'markdown', 'The view markdown needs a text.'],
  [7, 'table', 'The view table needs a list of flat objects.'],
  [7, chart, 'The view chart needs a list of flat objects.'],
  [[{ day: 1 }], chart, 'The chart needs a column high, which the rows do not have.'],
  [[{ day: 1, high: 'x' }], chart, 'The chart needs numbers in the column high.'],
  [[{ day: 1 }], { chart: 'pie' }, 'A chart is one of line, area, bar, scatter.'],
  [[{ day: 1 }], { chart: 'bar' }, 'A chart needs x, the name of a column, and y, one or more names.'],
  [1, 'html', 'x-view is markdown, text, table or a chart.'],
])('%j shown as %j is a problem with a reason', (value, view, message) => {
  expect(kinds(value, view)).toEqual([message]);
});

test('dates become times in ascending order, and other texts become labels', () => {
  const rows = [
    { day: '2026-11-02', high: 2 },
    { day: '2026-11-01', high: 1 },
    { day: '2026-11-03', high: null },
  ];
  const [view] = viewsOf({ part: rows }, hinted(chart));
  expect(view).toMatchObject({ chart: { scale: 'time', series: [{ name: 'high', values: [1, 2, null] }] } });
  const [named] = viewsOf({ part: [{ day: 'Mon', high: 1 }] }, hinted(chart));
  expect(named).toMatchObject({ chart: { scale: 'label', xs: [0], labels: ['Mon'] } });
});

test('too many points are refused with the limit', () => {
  const rows = Array.from({ length: 10_001 }, (_, day) => ({ day, high: 1 }));
  expect(kinds(rows, chart)).toEqual(['A chart has at most 10,000 points. Return fewer rows.']);
});
