import { expect, it } from 'vitest';
import type { Test } from '../../api/types';
import { added, nothing, partsOf } from './parts';

const test = (name: string): Test => ({ name, input: {}, expect: {} });

it('lists the parts that differ', () => {
  const before = { ...nothing, files: { 'main.js': 'a', 'same.js': 'b' }, inputSchema: { type: 'object' } };
  const proposal = {
    files: { 'main.js': 'c', 'same.js': 'b', 'new.js': 'd' },
    schemas: { input: { type: 'object' }, output: {} },
    tests: [test('one')],
  };
  expect(partsOf(before, proposal).map(({ id, before: was }) => [id, was])).toEqual([
    ['file main.js', 'a'],
    ['file new.js', ''],
    ['output', ''],
    ['tests', ''],
  ]);
});

it('gives new tests names that are free', () => {
  expect(added([test('one')], [test('one'), test('one')])?.map(({ name }) => name)).toEqual([
    'one',
    'one (2)',
    'one (3)',
  ]);
  expect(added([test('one')], [])).toBeUndefined();
});
