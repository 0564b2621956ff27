// Converts an object schema to table rows. Each edit of a row edits the schema. Parts that the table does not show
// (limits, patterns, titles, nested schemas) stay unchanged.
import { isObject, stringifyJson, type Json, type JsonObject } from '../../api/json';
import type { JsonSchema } from '../../api/types';

export interface SchemaRow {
  name: string;
  type: RowType;
  required: boolean;
  /** The default value as JSON. An empty text means no default. */
  initial: string;
  description: string;
  /** The values of an enum; empty for other types. */
  choices: string[];
}

const scalars = ['string', 'integer', 'number', 'boolean'] as const;
export const simpleTypes = [
  ...scalars,
  'choice',
  'object',
  ...scalars.map((t) => `${t}[]` as const),
  'object[]',
  'any',
] as const;
type SimpleType = (typeof simpleTypes)[number];
/** A type that the table can show, or a type that only JSON can express. */
export type RowType = SimpleType | 'other';

/** Returns the rows, or undefined if the schema is more than a list of properties. */
export function readRows(schema: JsonSchema): SchemaRow[] | undefined {
  if (schema === true) return [];
  if (!isObject(schema)) return undefined;
  if (['oneOf', 'anyOf', 'allOf', '$ref', 'not', 'if'].some((word) => word in schema)) return undefined;
  if ('type' in schema && schema['type'] !== 'object') return undefined;
  const properties = schema['properties'];
  if (properties !== undefined && !isObject(properties)) return undefined;
  const required = requiredOf(schema);
  return Object.entries(properties ?? {}).map(([name, property]) => ({
    name,
    type: typeOf(property),
    required: required.includes(name),
    initial: isObject(property) && 'default' in property ? JSON.stringify(property['default']) : '',
    description: isObject(property) && typeof property['description'] === 'string' ? property['description'] : '',
    choices: choicesOf(property) ?? [],
  }));
}

function typeOf(property: Json): RowType {
  if (property === true || (isObject(property) && Object.keys(property).every((key) => words.includes(key))))
    return 'any';
  if (!isObject(property)) return 'other';
  if (choicesOf(property) !== undefined) return 'choice';
  const { type, items } = property;
  if (notSimple.some((word) => word in property)) return 'other';
  const item = isObject(items) ? items['type'] : undefined;
  const simple = type === 'array' ? typeof item === 'string' && `${item}[]` : type;
  return simpleTypes.find((t) => t === simple && t !== 'any' && t !== 'choice') ?? 'other';
}

/** Returns the values of an enum, if all of them can be written in a list with commas. */
function choicesOf(property: Json): string[] | undefined {
  if (!isObject(property) || !Array.isArray(property['enum'])) return undefined;
  if (notSimple.some((word) => word !== 'enum' && word in property)) return undefined;
  if ('type' in property && property['type'] !== 'string') return undefined;
  const choices = property['enum'].filter((value) => typeof value === 'string');
  if (choices.length === 0 || choices.length !== property['enum'].length) return undefined;
  return stringifyJson(readChoices(showChoices(choices)) ?? []) === stringifyJson(choices) ? choices : undefined;
}

export const showChoices = (choices: string[]): string => choices.join(', ');

/** Splits a text at commas and removes duplicates. Returns undefined if no value remains. */
export function readChoices(typed: string): string[] | undefined {
  const choices = new Set(
    typed
      .split(',')
      .map((choice) => choice.trim())
      .filter((choice) => choice !== ''),
  );
  return choices.size > 0 ? [...choices] : undefined;
}

// Keywords that add constraints to the type.
const notSimple = ['enum', 'const', 'oneOf', 'anyOf', 'allOf', '$ref'];

// Annotations. They are valid for every type.
const words = ['title', 'description', 'default', 'x-multiline', 'x-secret'];

const propertiesOf = (schema: JsonSchema): JsonObject =>
  isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
const requiredOf = (schema: JsonSchema): string[] =>
  isObject(schema) && Array.isArray(schema['required'])
    ? schema['required'].filter((name) => typeof name === 'string')
    : [];

function withProperties(schema: JsonSchema, properties: JsonObject, required: string[]): JsonObject {
  const { required: _, ...rest } = isObject(schema) ? schema : {};
  return { type: 'object', ...rest, properties, ...(required.length > 0 ? { required } : {}) };
}

/** Adds a property with a free name. */
export function addRow(schema: JsonSchema, wanted: string): JsonObject {
  const properties = propertiesOf(schema);
  let name = wanted;
  for (let n = 2; name in properties; n++) name = `${wanted}${n}`;
  return withProperties(schema, { ...properties, [name]: { type: 'string' } }, requiredOf(schema));
}

export function removeRow(schema: JsonSchema, name: string): JsonObject {
  const properties = Object.fromEntries(Object.entries(propertiesOf(schema)).filter(([key]) => key !== name));
  return withProperties(
    schema,
    properties,
    requiredOf(schema).filter((key) => key !== name),
  );
}

export function renameRow(schema: JsonSchema, from: string, to: string): JsonObject {
  const named = (key: string): string => (key === from ? to : key);
  const properties = Object.fromEntries(
    Object.entries(propertiesOf(schema)).map(([key, value]) => [
      named(key),
      key === from ? withoutOldTitle(value, from) : value,
    ]),
  );
  return withProperties(schema, properties, [...new Set(requiredOf(schema).map(named))]);
}

/** A title that equals the old name is removed. Otherwise the renamed property would have the old name as its label. */
function withoutOldTitle(property: Json, name: string): Json {
  if (!isObject(property) || typeof property['title'] !== 'string') return property;
  const letters = (text: string): string => text.toLowerCase().replace(/[\s_-]/g, '');
  if (letters(property['title']) !== letters(name)) return property;
  const { title: _, ...rest } = property;
  return rest;
}

export function requireRow(schema: JsonSchema, name: string, on: boolean): JsonObject {
  const properties = propertiesOf(schema);
  const now = new Set(requiredOf(schema));
  if (on) now.add(name);
  else now.delete(name);
  // The required names have the same order as the properties. So switching twice restores the schema.
  const order = [
    ...Object.keys(properties).filter((key) => now.has(key)),
    ...[...now].filter((key) => !(key in properties)),
  ];
  return withProperties(schema, properties, order);
}

/** Changes the type of a property, and removes constraints that belong to the old type. */
export function typeRow(schema: JsonSchema, name: string, type: SimpleType): JsonObject {
  const kept = Object.fromEntries(
    Object.entries(objectAt(schema, name)).filter(([key]) => key !== 'default' && words.includes(key)),
  );
  return withRow(schema, name, { ...kept, ...schemaOfType(type) });
}

function schemaOfType(type: SimpleType): JsonObject {
  if (type === 'any') return {};
  // A new enum gets placeholder values, because an empty enum would accept no value.
  if (type === 'choice') return { type: 'string', enum: ['first', 'second'] };
  if (type.endsWith('[]')) return { type: 'array', items: { type: type.slice(0, -2) } };
  return { type };
}

/** Sets the values of an enum. It removes a default that is no longer one of the values. */
export function chooseRow(schema: JsonSchema, name: string, choices: string[]): JsonObject {
  const { default: initial, ...rest } = objectAt(schema, name);
  const kept = typeof initial === 'string' && choices.includes(initial) ? { default: initial } : {};
  return withRow(schema, name, { ...rest, ...kept, enum: choices });
}

/** Sets a default or description; undefined removes it. */
export function sayRow(
  schema: JsonSchema,
  name: string,
  word: 'default' | 'description',
  value: Json | undefined,
): JsonObject {
  const { [word]: _, ...rest } = objectAt(schema, name);
  return withRow(schema, name, value === undefined ? rest : { ...rest, [word]: value });
}

function objectAt(schema: JsonSchema, name: string): JsonObject {
  const property = propertiesOf(schema)[name];
  return isObject(property) ? property : {};
}

const withRow = (schema: JsonSchema, name: string, property: JsonObject): JsonObject =>
  withProperties(schema, { ...propertiesOf(schema), [name]: property }, requiredOf(schema));
