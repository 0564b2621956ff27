import { expect, test } from 'vitest';
import { mostViews, readRunViews, withView } from './runViews';

const failed = { name: 'Failed', query: 'status=failed' };

test('views are in the order of their names, and a name is unique', () => {
  const views = withView(withView([failed], { name: 'Agent a', query: 'agent=a' }), { name: 'Failed', query: 'x=1' });
  expect(views).toEqual([
    { name: 'Agent a', query: 'agent=a' },
    { name: 'Failed', query: 'x=1' },
  ]);
});

test('the number of views is bounded', () => {
  const full = Array.from({ length: mostViews }, (_, n) => ({ name: `view ${String(n)}`, query: '' }));
  expect(withView(full, failed)).toHaveLength(mostViews);
});

test.each([[undefined], [7], [{ views: 'text' }], [{ views: [1, null, { name: '', query: '' }, { name: 'a' }] }]])(
  'a broken store %j is empty',
  (stored) => {
    expect(readRunViews(stored)).toEqual({ views: [] });
  },
);

test('a stored view is read', () => {
  expect(readRunViews({ views: [failed, 2] })).toEqual({ views: [failed] });
});
