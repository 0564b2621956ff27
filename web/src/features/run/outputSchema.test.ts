import { expect, it } from 'vitest';
import type { JsonSchema } from '../../api/types';
import { asksForSomething, fitOf, type Fit } from './outputSchema';

it.each<[JsonSchema | undefined, boolean]>([
  [undefined, false],
  [{}, false],
  [true, false],
  [{ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Answer', description: 'Anything.' }, false],
  [{ type: 'object' }, true],
  [{ title: 'Answer', enum: [1] }, true],
  [false, true],
])('%j asks for something: %s', (schema, asks) => {
  expect(asksForSomething(schema)).toBe(asks);
});

const number: JsonSchema = { type: 'number' };
it.each<[string, JsonSchema | undefined, boolean, Fit]>([
  ['passed', number, false, 'passed'],
  ['failed', number, false, 'failed'],
  ['passed', {}, false, undefined],
  ['failed', undefined, false, 'failed'],
  ['skipped', number, true, undefined],
  // The draft asks for something else now.
  ['passed', { type: 'string' }, true, 'failed'],
  ['failed', number, true, 'passed'],
  ['failed', {}, true, undefined],
])('%s, held against %j, changed since: %s', (verdict, schema, changed, fit) => {
  expect(fitOf(verdict, 7, schema, changed)).toBe(fit);
});
