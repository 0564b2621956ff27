import { expect, test } from 'vitest';
import { mergedContent, mergeParts, mergeText } from './merge';
import type { Content } from './session';

const content = (files: Record<string, string>, more: Record<string, unknown> = {}): Content =>
  ({
    about: { name: 'a', title: '', description: '', tags: [], metadata: {} },
    draft: { revision: 1, files, entrypoint: 'a', ...more },
  }) as unknown as Content;

test.each([
  ['changes of different lines', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n', 'A\nb\nC\n', false],
  ['the same change of both', 'a\nb\n', 'A\nb\n', 'A\nb\n', 'A\nb\n', false],
  ['changes of one line', 'a\n', 'mine\n', 'theirs\n', '<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> theirs\n', true],
])('texts: %s', (_, base, mine, theirs, text, conflict) => {
  expect(mergeText(base, mine, theirs)).toEqual({ text, conflict });
});

test('files and fields are merged by what each side changed', () => {
  const base = content({ a: '1\n2\n3\n', b: 'b', gone: 'x' }, { environment: { A: '1' } });
  const mine = content({ a: 'one\n2\n3\n', b: 'b', gone: 'x', own: 'new' }, { environment: { A: '1' } });
  const theirs = content({ a: '1\n2\nthree\n', b: 'B' }, { environment: { A: '2' }, revision: 2 });
  const parts = mergeParts(base, mine, theirs);
  expect(parts.map(({ key, conflict }) => [key, conflict])).toEqual([
    ['a', false],
    ['b', false],
    ['gone', false],
    ['own', false],
    ['environment', false],
  ]);
  const merged = mergedContent(mine, parts, () => 'merged');
  expect(merged.draft.files).toEqual({ a: 'one\n2\nthree\n', b: 'B', own: 'new' });
  expect(merged.draft.environment).toEqual({ A: '2' });
  expect(mergedContent(mine, parts, () => 'mine')).toEqual(mine);
  expect(mergedContent(mine, parts, () => 'theirs').draft.files).toEqual(theirs.draft.files);
});

test('without a base every difference is a conflict', () => {
  const parts = mergeParts(undefined, content({ a: 'x' }), content({ a: 'y' }));
  expect(parts.map(({ conflict }) => conflict)).toEqual([true]);
});
