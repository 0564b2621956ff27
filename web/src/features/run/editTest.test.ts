import { describe, expect, it } from 'vitest';
import type { Test } from '../../api/types';
import { testOf, typedOf, wrongOf } from './editTest';

const tests: Test[] = [
  {
    name: 'a',
    input: { n: 1 },
    expect: { output: null },
    ignore: ['/at', '/id'],
    source: 'recorded',
    tags: ['x', 'y'],
  },
  { name: 'b', input: [], expect: { schema: true } },
  { name: 'c', input: 1, expect: { matches: { type: 'object' } } },
  { name: 'Case 5', input: 1, expect: { errorType: 'timeout' } },
];

describe('a typed test', () => {
  it.each(tests)('keeps $name', (test) => {
    expect(testOf(typedOf(test, tests), test)).toEqual(test);
  });

  it('begins with a free name', () => {
    expect(typedOf(undefined, tests).name).toBe('Case 6');
  });

  it('is undefined while a part is not valid', () => {
    const typed = typedOf(tests[0], tests);
    for (const part of [
      { name: ' ' },
      { input: '{' },
      { output: '' },
      { kind: 'matches' as const, matches: '3' },
      { kind: 'errorType' as const },
    ])
      expect(testOf({ ...typed, ...part }, undefined)).toBe(undefined);
    expect(wrongOf('matches', 'true')).toBe(undefined);
  });

  it('has trimmed words, each once, and compares no parts of an error', () => {
    const typed = { ...typedOf(tests[0], tests), tags: ' a, ,b,a', name: ' z ' };
    expect(testOf(typed, undefined)).toMatchObject({ name: 'z', tags: ['a', 'b'] });
    expect(testOf({ ...typed, kind: 'schema' }, undefined)?.ignore).toBe(undefined);
  });
});
