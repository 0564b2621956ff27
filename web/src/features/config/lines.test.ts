import { expect, it } from 'vitest';
import { sameLines, toLines } from './lines';

it('lines are those that hold something, in their order', () => {
  expect(toLines(' api.example.com:443 \n\n*.example.org:443\n')).toEqual(['api.example.com:443', '*.example.org:443']);
  expect(toLines(' \n')).toEqual([]);
  expect(sameLines(['a:1'], ['a:1'])).toBe(true);
  expect(sameLines(['a:1'], ['b:1'])).toBe(false);
  expect(sameLines(['a:1'], ['a:1', 'b:1'])).toBe(false);
});
