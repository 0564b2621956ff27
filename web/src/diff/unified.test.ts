import { expect, test } from 'vitest';
import { countsOf, linesOf } from './unified';

const unified = `--- a.txt
+++ a.txt
@@ -3,3 +3,4 @@
 same
-old
+new
+more
 last
\\ No newline at end of file
@@ -20 +21 @@
--- a line that begins with two dashes
`;

test('each line has its numbers in both files', () => {
  expect(linesOf(unified)).toEqual([
    { kind: 'place', text: '@@ -3,3 +3,4 @@' },
    { kind: 'same', before: 3, after: 3, text: ' same' },
    { kind: 'removed', before: 4, text: '-old' },
    { kind: 'added', after: 4, text: '+new' },
    { kind: 'added', after: 5, text: '+more' },
    { kind: 'same', before: 5, after: 6, text: ' last' },
    { kind: 'place', text: '\\ No newline at end of file' },
    { kind: 'place', text: '@@ -20 +21 @@' },
    { kind: 'removed', before: 20, text: '--- a line that begins with two dashes' },
  ]);
});

test('a new file without places is numbered from its first line', () => {
  expect(linesOf('\n\n+one\n+two')).toEqual([
    { kind: 'added', after: 1, text: '+one' },
    { kind: 'added', after: 2, text: '+two' },
  ]);
});

test('counts the lines', () => {
  expect(countsOf(unified)).toEqual({ added: 2, removed: 2 });
});
