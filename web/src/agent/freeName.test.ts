import { expect, it } from 'vitest';
import { freeName } from './freeName';

it('keeps a free name and counts from 2 otherwise', () => {
  expect(freeName('slugger', [])).toBe('slugger');
  expect(freeName('slugger', ['slugger-2'])).toBe('slugger');
  expect(freeName('slugger', ['slugger', 'slugger-2', 'slugger-4'])).toBe('slugger-3');
});
