import { expect, it } from 'vitest';
import type { JsonSchema } from '../../api/types';
import { asksForSomething, fitOf, type Fit, type Whose } from './outputSchema';

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
const text: JsonSchema = { type: 'string' };
it.each<[string, JsonSchema | undefined, Whose, Fit]>([
  ['passed', number, 'version', 'passed'],
  ['failed', number, 'version', 'failed'],
  ['passed', {}, 'version', undefined],
  ['failed', undefined, 'version', 'failed'],
  ['skipped', number, 'changedDraft', undefined],
  // The draft's schema has changed since the page loaded.
  ['passed', text, 'changedDraft', 'failed'],
  ['failed', number, 'changedDraft', 'passed'],
  ['failed', {}, 'changedDraft', undefined],
  // An older run of a draft, whose schema may have changed since.
  ['passed', number, 'draft', 'passed'],
  ['failed', text, 'draft', 'failed'],
  ['passed', text, 'draft', 'passedThen'],
  ['failed', number, 'draft', 'failedThen'],
  ['failed', {}, 'draft', 'failedThen'],
  ['failed', undefined, 'draft', 'failedThen'],
  ['passed', {}, 'draft', undefined],
])('%s, held against %j of a %s', (verdict, schema, whose, fit) => {
  expect(fitOf(verdict, 7, schema, whose)).toBe(fit);
});
