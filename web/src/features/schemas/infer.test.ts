import { describe, expect, it } from 'vitest';
import type { Json } from '../../api/json';
import { fitSchema, inferSchema } from './infer';

describe('a schema from a value', () => {
  it.each<[string, Json, Json]>([
    ['a text', 'x', { type: 'string' }],
    ['a whole number', 3, { type: 'integer' }],
    ['a part of one', 0.5, { type: 'number' }],
    ['nothing', null, { type: 'null' }],
    ['an empty list', [], { type: 'array' }],
    ['numbers', [1, 2.5], { type: 'array', items: { type: 'number' } }],
    ['a mixture', [1, 'x'], { type: 'array', items: {} }],
    [
      'objects that share a key',
      [{ a: 1, b: 'x' }, { a: 2 }],
      {
        type: 'array',
        items: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'string' } }, required: ['a'] },
      },
    ],
  ])('that is %s', (_, value, want) => {
    expect(inferSchema(value)).toEqual(want);
  });

  it('keeps matching parts, replaces others and adds new ones', () => {
    const before = {
      type: 'object',
      title: 'Kept',
      properties: { city: { type: 'string', minLength: 2 }, days: { type: 'string' }, gone: { type: 'boolean' } },
      required: ['city', 'gone'],
    };
    expect(fitSchema(before, { city: 'Oslo', days: 3, zip: '0150' })).toEqual({
      type: 'object',
      title: 'Kept',
      properties: {
        city: { type: 'string', minLength: 2 },
        days: { type: 'integer' },
        gone: { type: 'boolean' },
        zip: { type: 'string' },
      },
      required: ['city', 'zip'],
    });
  });
});
