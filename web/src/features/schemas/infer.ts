// Infers a schema from a recorded value.
import { isObject, rawNumber, type Json, type JsonObject } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { check } from '../../schema/validate';

/** Returns the schema of a value. Objects require all their keys; lists have one item schema. */
export function inferSchema(value: Json): JsonObject {
  if (value === null) return { type: 'null' };
  if (Array.isArray(value)) {
    const items = value
      .map(inferSchema)
      .reduce<JsonObject | undefined>((all, item) => (all ? merge(all, item) : item), undefined);
    return { type: 'array', ...(items ? { items } : {}) };
  }
  if (isObject(value)) return inferObject(value);
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  if (rawNumber(value) !== undefined) return { type: /[.eE]/.test(rawNumber(value) ?? '') ? 'number' : 'integer' };
  return { type: typeof value };
}

function inferObject(value: JsonObject): JsonObject {
  const properties = Object.fromEntries(Object.entries(value).map(([key, v]) => [key, inferSchema(v)]));
  const required = Object.keys(value);
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** Merges two schemas: the wider number type and the shared required keys, else any value. */
function merge(a: JsonObject, b: JsonObject): JsonObject {
  if (a['type'] !== b['type']) {
    const numbers = [a['type'], b['type']].every((type) => type === 'integer' || type === 'number');
    return numbers ? { type: 'number' } : {};
  }
  if (a['type'] === 'array') {
    const [one, two] = [a['items'], b['items']];
    const items = isObject(one) && isObject(two) ? merge(one, two) : (one ?? two);
    return { type: 'array', ...(items === undefined ? {} : { items }) };
  }
  if (a['type'] !== 'object' || !isObject(a['properties']) || !isObject(b['properties'])) return a;
  const [mine, theirs] = [a['properties'], b['properties']];
  const properties: JsonObject = { ...mine };
  for (const [key, schema] of Object.entries(theirs)) {
    const known = mine[key];
    properties[key] = isObject(known) && isObject(schema) ? merge(known, schema) : schema;
  }
  const both = namesIn(a).filter((key) => namesIn(b).includes(key));
  return { type: 'object', properties, ...(both.length > 0 ? { required: both } : {}) };
}

const namesIn = (schema: JsonObject): Json[] => (Array.isArray(schema['required']) ? schema['required'] : []);

/** Extends a schema to accept a value. Matching parts keep their texts and limits; new parts are added. */
export function fitSchema(schema: JsonSchema, value: Json): JsonObject {
  const inferred = inferSchema(value);
  if (!isObject(schema) || !isObject(schema['properties']) || !isObject(inferred['properties'])) return inferred;
  const known = schema['properties'];
  const properties: JsonObject = { ...known };
  for (const [key, now] of Object.entries(inferred['properties'])) {
    const was = known[key];
    const fits = isObject(was) && isObject(value) && check(value[key], rooted(was, schema)).length === 0;
    properties[key] = fits ? was : now;
  }
  // Missing properties become optional; new ones become required.
  const required = namesIn(inferred).filter(
    (key) => typeof key === 'string' && (!(key in known) || namesIn(schema).includes(key)),
  );
  const { required: _, ...rest } = schema;
  return { ...rest, type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** A subschema together with the definitions of the whole. */
function rooted(part: JsonObject, root: JsonObject): JsonObject {
  const defs = root['$defs'];
  return defs === undefined ? part : { $defs: defs, ...part };
}
