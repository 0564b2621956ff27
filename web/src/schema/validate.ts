// Checks a value against a schema in the page, for messages beside the field. The server decides; this only tells sooner.
import { Validator } from '@cfworker/json-schema';
import { isObject, plain, type Json } from '../api/json';
import type { FieldProblem, JsonSchema } from '../api/types';
import { get, join } from './pointer';

// These only say that something below them failed, and that is said there.
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
  if (typeof schema === 'boolean') return schema ? [] : [{ pointer: '', message: 'Nothing is allowed here.' }];
  if (value === undefined) return [];
  try {
    const { errors } = new Validator(schema, '2020-12', false).validate(plain(value));
    const problems = errors.filter((e) => !isContainer(e.keyword, e.error)).map((e) => problemOf(e, schema));
    return distinct(problems);
  } catch {
    // A schema that this validator cannot compile is the server's to judge.
    return [];
  }
}

function isContainer(keyword: string, error: string): boolean {
  // "additionalProperties": false is a finding of its own.
  return containers.has(keyword) && !error.includes('False boolean schema');
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
    if (missing !== undefined) return { pointer: join(pointer, missing), message: 'Required.' };
  }
  const rule = isObject(schema) ? get(schema, keywordLocation.replace(/^.*#/, '')) : undefined;
  return { pointer, message: sentence(keyword, rule) ?? error };
}

function sentence(keyword: string, rule: Json | undefined): string | undefined {
  if (rule === undefined) return undefined;
  const text = typeof rule === 'string' ? rule : JSON.stringify(rule);
  switch (keyword) {
    case 'minimum':
      return `Must be at least ${text}.`;
    case 'maximum':
      return `Must be at most ${text}.`;
    case 'exclusiveMinimum':
      return `Must be more than ${text}.`;
    case 'exclusiveMaximum':
      return `Must be less than ${text}.`;
    case 'multipleOf':
      return `Must be a multiple of ${text}.`;
    case 'minLength':
      return rule === 1 ? 'Must not be empty.' : `Must have at least ${text} characters.`;
    case 'maxLength':
      return `Must have at most ${text} characters.`;
    case 'minItems':
      return `Must have at least ${text} items.`;
    case 'maxItems':
      return `Must have at most ${text} items.`;
    case 'pattern':
      return `Must match ${text}.`;
    case 'format':
      return `Must be a valid ${text}.`;
    case 'type':
      return `Must be ${[rule].flat().map(withArticle).join(' or ')}.`;
    case 'enum':
      return Array.isArray(rule) ? `Must be one of ${rule.map((v) => JSON.stringify(v)).join(', ')}.` : undefined;
    default:
      return undefined;
  }
}

function withArticle(type: Json): string {
  const name = typeof type === 'string' ? type : JSON.stringify(type);
  return name === 'null' ? name : `${/^[aio]/.test(name) ? 'an' : 'a'} ${name}`;
}

function distinct(problems: FieldProblem[]): FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ pointer, message }) => {
    const key = `${pointer}\n${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
