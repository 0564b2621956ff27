// Updates an input after its schema was edited. A renamed property keeps its value. A new default replaces a value that
// the user has not edited. If a property was removed, its value is removed if it equals the default.
import { isObject, stringifyJson, type Json, type JsonObject } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { initialValue } from './defaults';
import { readNode } from './shape';

export function followSchema(value: Json, before: JsonSchema, after: JsonSchema): Json {
  if (same(before, after)) return value;
  if (!isObject(value)) return same(value, initialValue(before) ?? {}) ? (initialValue(after) ?? {}) : value;
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  if (!old || !now) return same(value, initialValue(before) ?? {}) ? (initialValue(after) ?? {}) : value;
  const renamed = renaming(old, now);
  const first = initialValue(after);
  const defaults: JsonObject = isObject(first) ? first : {};
  const oldFirst = initialValue(before);
  const oldDefaults: JsonObject = isObject(oldFirst) ? oldFirst : {};

  const next: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const to = renamed?.from === key ? renamed.to : key;
    const untouched = key in oldDefaults && same(item, oldDefaults[key] ?? null);
    if (!untouched) next[to] = item;
    else if (to in defaults) next[to] = defaults[to] ?? null;
    else if (now.has(to) && !wasGivenADefault(old.get(key))) next[to] = item;
  }
  for (const [key, item] of Object.entries(defaults)) {
    const from = renamed?.to === key ? renamed.from : key;
    const isNew = !(from in oldDefaults) && !(from in value);
    if (isNew && !(key in next)) next[key] = item;
  }
  return same(next, value) ? value : next;
}

/** Returns the keys of an input that the schema does not describe. */
export function unknownKeys(value: Json, schema: JsonSchema): string[] {
  const known = propertiesOf(schema);
  if (!isObject(value) || !known) return [];
  const { schema: node } = readNode(schema, schema);
  const patterns = isObject(node['patternProperties']) || isObject(node['additionalProperties']);
  return patterns ? [] : Object.keys(value).filter((key) => !known.has(key));
}

function propertiesOf(schema: JsonSchema): Map<string, JsonSchema> | undefined {
  const { shape } = readNode(schema, schema);
  return shape.kind === 'object' ? new Map(shape.properties.map((p) => [p.key, p.schema])) : undefined;
}

/** If one name was removed and one was added at the same position, the property was renamed. */
function renaming(
  old: Map<string, JsonSchema>,
  now: Map<string, JsonSchema>,
): { from: string; to: string } | undefined {
  const [was, is] = [[...old.keys()], [...now.keys()]];
  const gone = was.filter((key) => !now.has(key));
  const come = is.filter((key) => !old.has(key));
  const [from, to] = [gone[0], come[0]];
  if (gone.length !== 1 || come.length !== 1 || from === undefined || to === undefined) return undefined;
  return was.indexOf(from) === is.indexOf(to) ? { from, to } : undefined;
}

const wasGivenADefault = (schema: JsonSchema | undefined): boolean =>
  schema !== undefined && isObject(schema) && 'default' in schema;

const same = (a: Json, b: Json): boolean => stringifyJson(a) === stringifyJson(b);
