import { expect, test } from 'vitest';
import { savedInputs, withInputs } from './savedInputs';

test('inputs are added next to the metadata of others and taken out again', () => {
  const added = withInputs({ team: 'north' }, { small: '{"n": 12345678901234567890}' });
  expect(added).toEqual({ team: 'north', inputs: { small: '{"n": 12345678901234567890}' } });
  expect(savedInputs(added ?? {})).toEqual({ small: '{"n": 12345678901234567890}' });
  expect(withInputs(added ?? {}, {})).toEqual({ team: 'north' });
});

test('metadata of another shape has no inputs', () => {
  expect(savedInputs({ inputs: [1] })).toEqual({});
  expect(savedInputs({ inputs: { a: 1, b: '2' } })).toEqual({ b: '2' });
});

test('inputs that would not fit into the metadata are refused', () => {
  expect(withInputs({}, { large: 'é'.repeat(8000) })).toBeUndefined();
});
