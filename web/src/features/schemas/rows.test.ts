import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../api/types';
import { addRow, readRows, removeRow, renameRow, requireRow, sayRow, typeRow } from './rows';

const schema = {
  type: 'object',
  title: 'Kept',
  properties: {
    city: { type: 'string', title: 'City', minLength: 2, default: 'Oslo' },
    days: { type: 'array', items: { type: 'integer' }, description: 'Which.' },
    units: { enum: ['a', 'b'] },
  },
  required: ['days', 'city'],
};

describe('the rows of a schema', () => {
  it('show what the table can say', () => {
    expect(readRows(schema)).toEqual([
      { name: 'city', type: 'string', required: true, initial: '"Oslo"', description: '' },
      { name: 'days', type: 'integer[]', required: true, initial: '', description: 'Which.' },
      { name: 'units', type: 'other', required: false, initial: '', description: '' },
    ]);
    expect(readRows({ properties: { a: {}, b: true, c: { description: 'x' } } })?.map((r) => r.type)).toEqual([
      'any',
      'any',
      'any',
    ]);
    expect(readRows(true)).toEqual([]);
  });

  it.each<[string, JsonSchema]>([
    ['another type', { type: 'string' }],
    ['choices', { oneOf: [] }],
    ['nothing', false],
  ])('are none for %s', (_, other) => {
    expect(readRows(other)).toBeUndefined();
  });

  it('are added, renamed in place and removed', () => {
    const added = addRow(addRow(schema, 'city'), 'zip');
    expect(Object.keys(added['properties'] ?? {})).toEqual(['city', 'days', 'units', 'city2', 'zip']);
    const renamed = renameRow(schema, 'city', 'town');
    expect(Object.keys(renamed['properties'] ?? {})).toEqual(['town', 'days', 'units']);
    expect(renamed).toMatchObject({
      title: 'Kept',
      required: ['days', 'town'],
      properties: { town: { minLength: 2 } },
    });
    expect(removeRow(schema, 'city')).toMatchObject({ required: ['days'] });
  });

  it('are required and not, without a trace', () => {
    const once = requireRow(schema, 'units', true);
    expect(once['required']).toEqual(['city', 'days', 'units']);
    expect(requireRow(requireRow({ properties: { a: {} } }, 'a', true), 'a', false)).toEqual({
      type: 'object',
      properties: { a: {} },
    });
  });

  it('lose with their type what limited it, and keep their words', () => {
    expect(typeRow(schema, 'city', 'number[]')['properties']).toMatchObject({
      city: { title: 'City', type: 'array', items: { type: 'number' } },
    });
    expect(JSON.stringify(typeRow(schema, 'city', 'any'))).not.toContain('minLength');
  });

  it('have words said and taken back', () => {
    const said = sayRow(schema, 'units', 'default', 'a');
    expect(said['properties']).toMatchObject({ units: { enum: ['a', 'b'], default: 'a' } });
    expect(sayRow(said, 'units', 'default', undefined)).toEqual(schema);
  });
});
