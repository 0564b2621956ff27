import { expect, it } from 'vitest';
import { inOneLine, sameLines, toLines } from './lines';

it('lines are those that hold something, in their order', () => {
  expect(toLines(' api.example.com:443 \n\n*.example.org:443\n')).toEqual(['api.example.com:443', '*.example.org:443']);
  expect(toLines(' \n')).toEqual([]);
  expect(sameLines(['a:1'], ['a:1'])).toBe(true);
  expect(sameLines(['a:1'], ['b:1'])).toBe(false);
  expect(sameLines(['a:1'], ['a:1', 'b:1'])).toBe(false);
});

it('a list in one line has no marks of a list', () => {
  expect(inOneLine('- Wind can be asked for.\n\n* Reaches a - b.\n')).toBe('Wind can be asked for. Reaches a - b.');
  expect(inOneLine('The first one.')).toBe('The first one.');
});
