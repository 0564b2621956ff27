import { expect, test } from 'vitest';
import { replaceInFiles } from './search';

const files = { 'a.js': 'Old old OLD\nold', 'b.js': 'new', 'c.png': { base64: 'b2xk' } };

test('every match of every text file is replaced, and other files stay', () => {
  expect(replaceInFiles(files, 'old', false, 'x')).toEqual({ changed: { 'a.js': 'x x x\nx' }, count: 4 });
  expect(replaceInFiles(files, 'old', true, '')).toEqual({ changed: { 'a.js': 'Old  OLD\n' }, count: 2 });
});

test('nothing is replaced without a text, and signs have no special meaning', () => {
  expect(replaceInFiles(files, '', false, 'x').count).toBe(0);
  expect(replaceInFiles({ 'a.js': 'a.b a$b' }, 'a.b', true, '$&').changed).toEqual({ 'a.js': '$& a$b' });
});

test('letters that are longer in lower case do not move the places', () => {
  expect(replaceInFiles({ 'a.js': 'İ end' }, 'end', false, 'x').changed).toEqual({ 'a.js': 'İ x' });
});
