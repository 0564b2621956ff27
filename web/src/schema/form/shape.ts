// Selects the field for each part of a schema. A part for which there is no field is edited as JSON.
import { isObject, type Json, type JsonObject } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { shape as say } from '../../texts/form';
import { get } from '../pointer';

export interface Option {
  label: string;
  value: Json;
}
export interface Property {
  key: string;
  schema: JsonSchema;
  required: boolean;
}
export type Shape =
  | { kind: 'text'; multiline: boolean; secret: boolean; input: 'text' | 'date' | 'email' | 'url' }
  | { kind: 'moment' }
  | { kind: 'number'; integer: boolean }
  | { kind: 'switch' }
  | { kind: 'choice'; options: Option[] }
  | { kind: 'constant'; value: Json }
  | { kind: 'object'; properties: Property[] }
  | { kind: 'list'; items: JsonSchema }
  | { kind: 'variants'; branches: { label: string; schema: JsonSchema }[] }
  | { kind: 'json' };

export interface Node {
  schema: JsonObject;
  shape: Shape;
  title: string | undefined;
  description: string | undefined;
  nullable: boolean;
}

const json: Shape = { kind: 'json' };

/**
 * Reads a part of a schema and follows references inside the document. The number of steps is limited, because
 * references may form a cycle.
 */
export function readNode(schema: JsonSchema, root: JsonSchema): Node {
  const resolved = dereference(schema, root);
  const { types, nullable } = typesOf(resolved);
  return {
    schema: resolved,
    shape: shapeOf(resolved, types),
    title: stringOf(resolved['title']),
    description: stringOf(resolved['description']),
    nullable,
  };
}

function dereference(schema: JsonSchema, root: JsonSchema): JsonObject {
  let at: Json | undefined = schema;
  for (let i = 0; i < 16; i++) {
    if (!isObject(at)) return {};
    const ref: Json | undefined = at['$ref'];
    if (typeof ref !== 'string') return at;
    if (ref !== '#' && !ref.startsWith('#/')) return {};
    // Keywords next to a reference, such as title and description, take precedence over those of the target.
    const { $ref: _, ...others } = at;
    const target = get(root, decode(ref.slice(1)));
    at = isObject(target) ? { ...target, ...others } : {};
  }
  return {};
}

function decode(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

function typesOf(schema: JsonObject): { types: string[]; nullable: boolean } {
  const type = schema['type'];
  const all = Array.isArray(type) ? type.filter((t) => typeof t === 'string') : typeof type === 'string' ? [type] : [];
  const types = all.filter((t) => t !== 'null');
  return { types, nullable: schema['nullable'] === true || (all.includes('null') && types.length > 0) };
}

function shapeOf(schema: JsonObject, types: string[]): Shape {
  if ('const' in schema) return { kind: 'constant', value: schema['const'] ?? null };
  const options = schema['enum'];
  if (Array.isArray(options))
    return { kind: 'choice', options: options.map((value) => ({ label: labelOf(value), value })) };
  const branches = schema['oneOf'] ?? schema['anyOf'];
  if (Array.isArray(branches)) return variants(branches);
  if ('allOf' in schema || types.length > 1) return json;
  switch (types[0] ?? ('properties' in schema ? 'object' : undefined)) {
    case 'string':
      return textShape(schema);
    case 'number':
      return { kind: 'number', integer: false };
    case 'integer':
      return { kind: 'number', integer: true };
    case 'boolean':
      return { kind: 'switch' };
    case 'object':
      return objectShape(schema);
    case 'array':
      return 'prefixItems' in schema || schema['items'] === undefined
        ? json
        : { kind: 'list', items: asSchema(schema['items']) };
    default:
      return json;
  }
}

/** Whether a text may need several lines: it is code, a document, or may be long. */
function isLong(schema: JsonObject): boolean {
  const { maxLength, format } = schema;
  if (schema['x-multiline'] !== undefined) return schema['x-multiline'] === true;
  if (schema['x-secret'] === true) return false;
  return (
    schema['contentMediaType'] !== undefined ||
    (format === undefined && typeof maxLength === 'number' && maxLength >= 1000)
  );
}

function textShape(schema: JsonObject): Shape {
  const format = schema['format'];
  if (format === 'date-time' && schema['x-secret'] !== true) return { kind: 'moment' };
  const input = format === 'date' ? 'date' : format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text';
  return { kind: 'text', multiline: isLong(schema), secret: schema['x-secret'] === true, input };
}

function objectShape(schema: JsonObject): Shape {
  if (!isObject(schema['properties'])) return json;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = Object.entries(schema['properties']).map(([key, value]) => ({
    key,
    schema: asSchema(value),
    required: required.includes(key),
  }));
  return { kind: 'object', properties };
}

/** If all alternatives are constants, they form one choice. The user selects other alternatives by their title. */
function variants(branches: Json[]): Shape {
  const objects = branches.filter(isObject);
  if (objects.length !== branches.length || objects.length === 0) return json;
  if (objects.every((b) => 'const' in b)) {
    const options = objects.map((b) => ({
      label: stringOf(b['title']) ?? labelOf(b['const'] ?? null),
      value: b['const'] ?? null,
    }));
    return { kind: 'choice', options };
  }
  const labelled = objects.map((schema, i) => ({
    schema,
    label: stringOf(schema['title']) ?? variantLabel(schema, i),
  }));
  return { kind: 'variants', branches: labelled };
}

function variantLabel(schema: JsonObject, index: number): string {
  return stringOf(schema['type']) ?? say.variant(index + 1);
}

function labelOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
export const asSchema = (value: Json | undefined): JsonSchema => (isObject(value) || value === false ? value : true);
const stringOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
