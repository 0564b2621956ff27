import { expect, test } from 'vitest';
import { Past, replacement } from './past';

test('changes without a pause are one step', () => {
  const past = new Past('agent');
  past.changes('a', 'one', 0);
  past.changes('a', 'one t', 100);
  past.changes('a', 'one two', 5000);
  past.changes('b', 'other', 5100);
  expect(past.of('a', 'one two three')).toEqual([]); // it is in the editor's own list
});

test.each([
  ['abc', 'abXc'],
  ['aaaa', 'aa'],
  ['', 'new'],
  ['old', ''],
  ['same', 'same'],
])('a replacement makes %j of %j', (from, to) => {
  const { start, end, text } = replacement(from, to);
  expect(from.slice(0, start) + text + from.slice(end)).toBe(to);
});
