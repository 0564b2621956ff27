import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../api/types';
import { addRow, chooseRow, readChoices, readRows, removeRow, renameRow, requireRow, sayRow, typeRow } from './rows';

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
      { name: 'city', type: 'string', required: true, initial: '"Oslo"', description: '', choices: [] },
      { name: 'days', type: 'integer[]', required: true, initial: '', description: 'Which.', choices: [] },
      { name: 'units', type: 'choice', required: false, initial: '', description: '', choices: ['a', 'b'] },
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

  it('are required once, also under a name that was required before it was there', () =>
    expect(renameRow({ properties: { a: {} }, required: ['a', 'b'] }, 'a', 'b')).toMatchObject({ required: ['b'] }));
  it('lose a default that is no choice any more', () => {
    const units = { properties: { units: { enum: ['a', 'b'], default: 'a' } } };
    expect(chooseRow(units, 'units', ['a', 'c'])).toMatchObject({ properties: { units: { default: 'a' } } });
    expect(chooseRow(units, 'units', ['b'])).toEqual({ type: 'object', properties: { units: { enum: ['b'] } } });
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

  it.each<[string, JsonSchema]>([
    ['a number', { enum: ['a', 1] }],
    ['a comma', { enum: ['a', 'b, c'] }],
    ['room around it', { enum: [' a'] }],
    ['nothing', { enum: ['', 'a'] }],
    ['the same twice', { enum: ['a', 'a'] }],
    ['no choice at all', { enum: [] }],
    ['another type', { type: ['string', 'null'], enum: ['a'] }],
    ['more than words', { enum: ['a'], oneOf: [{}] }],
  ])('leave to the JSON a choice with %s', (_, property) => {
    expect(readRows({ properties: { it: property } })?.[0]).toMatchObject({ type: 'other', choices: [] });
  });

  it('choose from words, and keep what else is said', () => {
    const described = { properties: { it: { type: 'string', enum: ['a'], description: 'Which.' } } };
    expect(readRows(described)?.[0]).toMatchObject({ type: 'choice', choices: ['a'] });
    expect(chooseRow(described, 'it', ['a', 'b'])['properties']).toEqual({
      it: { type: 'string', enum: ['a', 'b'], description: 'Which.' },
    });
    expect(readChoices(' metric,imperial ,, metric')).toEqual(['metric', 'imperial']);
    expect(readChoices(' , ')).toBeUndefined();
    expect(readRows(typeRow(schema, 'city', 'choice'))?.[0]).toMatchObject({ type: 'choice' });
  });

  it('descriptions are set and removed', () => {
    const said = sayRow(schema, 'units', 'default', 'a');
    expect(said['properties']).toMatchObject({ units: { enum: ['a', 'b'], default: 'a' } });
    expect(sayRow(said, 'units', 'default', undefined)).toEqual(schema);
  });

  it('are strings with choices, and lose a title that says a former name', () => {
    expect(typeRow(schema, 'city', 'choice')['properties']).toMatchObject({ city: { type: 'string' } });
    expect(JSON.stringify(renameRow(schema, 'city', 'town'))).not.toContain('"City"');
    const titled = { properties: { city: { title: 'Where to look' } } };
    expect(renameRow(titled, 'city', 'town')['properties']).toEqual({ town: { title: 'Where to look' } });
  });
});
