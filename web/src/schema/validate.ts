// Checks a value in the page, so that errors appear early. The result of the server's check decides.
import { Validator } from '@cfworker/json-schema';
import { isObject, plain, type Json } from '../api/json';
import type { FieldProblem, JsonSchema } from '../api/types';
import { validate as say } from '../texts/form';
import { get, join } from './pointer';

// An error of one of these keywords only says that a subschema failed. The error of the subschema is shown instead.
const containers = new Set([
  'properties',
  'items',
  'prefixItems',
  'additionalProperties',
  '$ref',
  'allOf',
  'patternProperties',
  'dependentSchemas',
  'then',
  'else',
  'if',
]);

export function check(value: Json | undefined, schema: JsonSchema): FieldProblem[] {
  if (typeof schema === 'boolean') return schema ? [] : [{ pointer: '', message: say.nothingIsAllowedHere }];
  if (value === undefined) return [];
  try {
    const { errors } = new Validator(schema, '2020-12', false).validate(plain(value));
    const problems = errors.filter((e) => !isContainer(e.keyword, e.error)).map((e) => problemOf(e, schema));
    return distinct(problems);
  } catch {
    // If this validator cannot compile a schema, only the server checks the value.
    return [];
  }
}

function isContainer(keyword: string, error: string): boolean {
  // Errors of "additionalProperties": false are reported separately.
  return containers.has(keyword) && !/False boolean schema/.test(error);
}

interface Unit {
  keyword: string;
  keywordLocation: string;
  instanceLocation: string;
  error: string;
}

function problemOf({ keyword, keywordLocation, instanceLocation, error }: Unit, schema: JsonSchema): FieldProblem {
  const pointer = decodeURIComponent(instanceLocation.slice(1));
  if (keyword === 'required') {
    const missing = /property "(.*)"\.$/.exec(error)?.[1];
    if (missing !== undefined) return { pointer: join(pointer, missing), message: say.required };
  }
  const rule = isObject(schema) ? get(schema, keywordLocation.replace(/^.*#/, '')) : undefined;
  return { pointer, message: sentence(keyword, rule) ?? error };
}

function sentence(keyword: string, rule: Json | undefined): string | undefined {
  if (rule === undefined) return undefined;
  const text = typeof rule === 'string' ? rule : JSON.stringify(rule);
  switch (keyword) {
    case 'minimum':
      return say.mustBeAtLeast(text);
    case 'maximum':
      return say.mustBeAtMost(text);
    case 'exclusiveMinimum':
      return say.mustBeMoreThan(text);
    case 'exclusiveMaximum':
      return say.mustBeLessThan(text);
    case 'multipleOf':
      return say.mustBeAMultiple(text);
    case 'minLength':
      return rule === 1 ? say.mustNotBeEmpty : say.mustHaveAtLeastCharacters(text);
    case 'maxLength':
      return say.mustHaveAtMostCharacters(text);
    case 'minItems':
      return say.mustHaveAtLeastItems(text);
    case 'maxItems':
      return say.mustHaveAtMostItems(text);
    case 'pattern':
      return say.mustMatch(text);
    case 'format':
      return say.mustBeAValid(text);
    case 'type':
      return say.mustBe([rule].flat().map(named));
    case 'enum':
      return Array.isArray(rule) ? say.mustBeOneOf(rule.map((v) => JSON.stringify(v)).join(', ')) : undefined;
    default:
      return undefined;
  }
}

const named = (type: Json): string => (typeof type === 'string' ? type : JSON.stringify(type));

function distinct(problems: FieldProblem[]): FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ pointer, message }) => {
    const key = `${pointer}\n${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
