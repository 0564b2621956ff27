// Converts a JSON Schema to TypeScript declarations. It supports the part of 2020-12 that types can express. It runs in
// the page, because the declarations must follow the user's typing without a delay. References become named aliases, so
// that they may be recursive.
import { isObject, type Json, type JsonObject } from '../api/json';
import type { JsonSchema } from '../api/types';
import { freeName, implied, resolve } from './references';

interface Walk {
  root: JsonSchema;
  prefix: string;
  /** Maps a reference to its alias. The alias is reserved before its declaration is generated, so a cycle ends. */
  aliases: Map<string, string>;
  bodies: string[];
}

const indentStep = '  ';

/** Declares `type <name>` for the schema, and one alias per `$ref`. */
export function toTypes(name: string, schema: JsonSchema): string {
  const walk: Walk = { root: schema, prefix: name, aliases: new Map([['#', name]]), bodies: [] };
  const body = typeOf(schema, walk, '');
  const doc = isObject(schema) ? docOf(schema, '') : '';
  return [`${doc}type ${name} = ${body};`, ...walk.bodies].join('\n') + '\n';
}

function typeOf(schema: Json | undefined, walk: Walk, indent: string): string {
  if (schema === false) return 'never';
  if (!isObject(schema)) return 'unknown';
  const parts = [baseOf(schema, walk, indent), ...combined(schema, walk, indent)].filter((p) => p !== 'unknown');
  const type =
    parts.length === 0 ? 'unknown' : parts.length === 1 ? (parts[0] ?? 'unknown') : parts.map(group).join(' & ');
  return schema['nullable'] === true && type !== 'unknown' ? union([type, 'null']) : type;
}

function combined(schema: JsonObject, walk: Walk, indent: string): string[] {
  const parts: string[] = [];
  for (const key of ['oneOf', 'anyOf']) {
    const branches = schema[key];
    if (Array.isArray(branches)) parts.push(union(branches.map((b) => typeOf(b, walk, indent))));
  }
  const all = schema['allOf'];
  if (Array.isArray(all)) parts.push(...all.map((b) => typeOf(b, walk, indent)));
  return parts;
}

function baseOf(schema: JsonObject, walk: Walk, indent: string): string {
  const ref = schema['$ref'];
  if (typeof ref === 'string') return aliasOf(ref, walk);
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(schema['enum'])) return union(schema['enum'].map(literal));
  const type = schema['type'];
  if (Array.isArray(type)) return union(type.map((t) => named(t, schema, walk, indent)));
  return named(type ?? implied(schema), schema, walk, indent);
}

function named(type: Json | undefined, schema: JsonObject, walk: Walk, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return arrayOf(schema, walk, indent);
    case 'object':
      return objectOf(schema, walk, indent);
    default:
      return 'unknown';
  }
}

function arrayOf(schema: JsonObject, walk: Walk, indent: string): string {
  const prefix = schema['prefixItems'];
  const items = schema['items'];
  if (!Array.isArray(prefix)) return `Array<${typeOf(items, walk, indent)}>`;
  const slots = prefix.map((s) => typeOf(s, walk, indent));
  if (items !== false) slots.push(`...Array<${typeOf(items, walk, indent)}>`);
  return `[${slots.join(', ')}]`;
}

function objectOf(schema: JsonObject, walk: Walk, indent: string): string {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const inner = indent + indentStep;
  const lines = Object.entries(properties).map(([key, value]) => {
    const doc = isObject(value) ? docOf(value, inner) : '';
    return `${doc}${inner}${propertyName(key)}${required.includes(key) ? '' : '?'}: ${typeOf(value, walk, inner)};`;
  });
  const extra = indexOf(schema['additionalProperties'], lines.length > 0, walk, inner);
  if (extra !== undefined) lines.push(`${inner}[key: string]: ${extra};`);
  return lines.length === 0 ? emptyObject(schema) : `{\n${lines.join('\n')}\n${indent}}`;
}

function emptyObject(schema: JsonObject): string {
  return schema['additionalProperties'] === false ? 'Record<string, never>' : 'Record<string, unknown>';
}

/**
 * Returns the index signature. If the type also has named properties, the signature must be unknown, because TypeScript
 * would reject the properties otherwise.
 */
function indexOf(extra: Json | undefined, hasProperties: boolean, walk: Walk, indent: string): string | undefined {
  if (!isObject(extra)) return undefined;
  return hasProperties ? 'unknown' : typeOf(extra, walk, indent);
}

function aliasOf(ref: string, walk: Walk): string {
  const known = walk.aliases.get(ref);
  if (known !== undefined) return known;
  const target = resolve(ref, walk.root);
  if (target === undefined) return 'unknown';
  const alias = freeName(walk.prefix, ref.split('/').at(-1) ?? '', walk.aliases.values());
  walk.aliases.set(ref, alias);
  const doc = isObject(target) ? docOf(target, '') : '';
  const body = typeOf(target, walk, '');
  // In TypeScript, an alias that refers to itself directly is an error.
  walk.bodies.push(`${doc}type ${alias} = ${body === alias ? 'unknown' : body};`);
  return alias;
}

function literal(value: Json | undefined): string {
  if (isObject(value)) {
    return `{ ${Object.entries(value)
      .map(([k, v]) => `${propertyName(k)}: ${literal(v)}`)
      .join('; ')} }`;
  }
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return JSON.stringify(value ?? null);
}

function union(types: string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes('unknown')) return 'unknown';
  if (distinct.length === 0) return 'never';
  return distinct.length === 1 ? (distinct[0] ?? 'never') : distinct.map(group).join(' | ');
}

function group(type: string): string {
  return /^[^{["]*[|&]/.test(type) ? `(${type})` : type;
}

function propertyName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

const facts = ['default', 'format', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'];

function docOf(schema: JsonObject, indent: string): string {
  const lines: string[] = [];
  const description = schema['description'];
  if (typeof description === 'string') lines.push(...description.split('\n'));
  for (const fact of facts) {
    if (fact in schema) lines.push(`@${fact} ${JSON.stringify(schema[fact])}`);
  }
  if (schema['deprecated'] === true) lines.push('@deprecated');
  if (lines.length === 0) return '';
  const safe = lines.map((l) => l.replace(/\*\//g, '*\\/'));
  if (safe.length === 1) return `${indent}/** ${safe[0] ?? ''} */\n`;
  return `${indent}/**\n${safe.map((l) => `${indent} * ${l}`).join('\n')}\n${indent} */\n`;
}
