import { describe, expect, it } from 'vitest';
import { summaryOf } from './SchemaSummary';

describe('the type of a property at a glance', () => {
  const cases: [string, object, string][] = [
    ['a whole number', { type: 'integer', minimum: 1 }, 'integer'],
    ['any number', { type: 'number' }, 'number'],
    ['one of some numbers', { type: 'integer', enum: [1, 2] }, '1 | 2'],
    ['one of some words', { enum: ['a', 'b'] }, '"a" | "b"'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'string[]'],
  ];
  it.each(cases)('%s', (_, property, type) => {
    const [row] = summaryOf({ type: 'object', properties: { it: property as never } });
    expect(row?.type).toBe(type);
  });
});

describe('the default of a property at a glance', () => {
  const cases: [string, object, string | undefined][] = [
    ['words, as they are', { type: 'string', default: 'Oslo' }, 'Oslo'],
    ['no words at all', { type: 'string', default: '' }, '""'],
    ['a number', { type: 'number', default: 3 }, '3'],
    ['none', { type: 'string' }, undefined],
  ];
  it.each(cases)('%s', (_, property, initial) => {
    const [row] = summaryOf({ type: 'object', properties: { it: property as never } });
    expect(row?.initial).toBe(initial);
  });
});
