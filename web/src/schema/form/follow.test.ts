import { expect, test } from 'vitest';
import type { Json } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { followSchema, unknownKeys } from './follow';

const object = (properties: { [name: string]: Json }): JsonSchema => ({ type: 'object', properties });
const text = { type: 'string' };
const named = (initial: string) => ({ type: 'string', default: initial });

test.each<[string, Json, JsonSchema, JsonSchema, Json]>([
  [
    'a renamed property keeps its value',
    { name: 'Ada' },
    object({ name: text }),
    object({ subject: text }),
    { subject: 'Ada' },
  ],
  [
    'a renamed property keeps its default',
    { name: 'world' },
    object({ name: named('world') }),
    object({ subject: named('world') }),
    { subject: 'world' },
  ],
  [
    'a removed property takes its untouched default along',
    { a: 'x', b: 'y' },
    object({ a: named('x'), b: text }),
    object({ b: text }),
    { b: 'y' },
  ],
  [
    'a removed property that was typed stays',
    { a: 'mine', b: 'y' },
    object({ a: named('x'), b: text }),
    object({ b: text }),
    { a: 'mine', b: 'y' },
  ],
  ['a new default fills a new property', {}, object({}), object({ a: named('x') }), { a: 'x' }],
  ['a new default fills a property without a value', {}, object({ a: text }), object({ a: named('x') }), { a: 'x' }],
  [
    'a changed default fills an untouched field',
    { a: 'x' },
    object({ a: named('x') }),
    object({ a: named('z') }),
    { a: 'z' },
  ],
  [
    'a changed default leaves what was typed',
    { a: 'mine' },
    object({ a: named('x') }),
    object({ a: named('z') }),
    { a: 'mine' },
  ],
  [
    'a default that is taken away empties an untouched field',
    { a: 'x' },
    object({ a: named('x') }),
    object({ a: text }),
    {},
  ],
  ['what was emptied stays empty', {}, object({ a: named('x') }), object({ a: named('x'), b: text }), {}],
  [
    'a description changes nothing',
    { a: 'x' },
    object({ a: named('x') }),
    object({ a: { ...named('x'), description: 'A.' } }),
    { a: 'x' },
  ],
  ['a schema without properties leaves what was typed', { a: 'mine' }, object({ a: text }), true, { a: 'mine' }],
])('%s', (_, value, before, after, want) => {
  expect(followSchema(value, before, after)).toEqual(want);
});

test('keys that the schema does not know are named', () => {
  expect(unknownKeys({ name: 'world', subject: 'x' }, object({ subject: text }))).toEqual(['name']);
  expect(unknownKeys({ name: 'world' }, { type: 'object', additionalProperties: { type: 'string' } })).toEqual([]);
  expect(unknownKeys({ name: 'world' }, true)).toEqual([]);
});
