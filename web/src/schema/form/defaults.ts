// Computes the initial value of a form from the defaults in the schema. Required objects and lists are empty.
import { isObject, type Json, type JsonObject } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { exampleOf, ownExample } from './example';
import { readNode, type Shape } from './shape';

const deepest = 8;
const mostItems = 20;

export function initialValue(schema: JsonSchema, root: JsonSchema = schema, depth = 0): Json | undefined {
  const { shape, schema: node } = readNode(schema, root);
  if ('default' in node) return node['default'];
  if (depth > deepest) return undefined;
  switch (shape.kind) {
    case 'constant':
      return shape.value;
    case 'object': {
      const value: JsonObject = {};
      for (const { key, schema: property, required } of shape.properties) {
        const item = initialValue(property, root, depth + 1);
        if (item !== undefined && (required || !isEmpty(item))) value[key] = item;
      }
      return value;
    }
    case 'list':
      return [];
    case 'variants':
      return initialValue(shape.branches[0]?.schema ?? true, root, depth + 1);
    case 'text':
    case 'moment':
    case 'number':
    case 'switch':
    case 'choice':
    case 'json':
      return undefined;
  }
}

/** Returns an example input: the initial value of the form, with values for all required parts. */
export function exampleValue(schema: JsonSchema, root: JsonSchema = schema, depth = 0): Json {
  const { shape, schema: node } = readNode(schema, root);
  const initial = initialValue(schema, root);
  if (depth > deepest) return initial ?? exampleOf(shape, node);
  const own = node['default'];
  if (own !== undefined && isWhole(own, shape)) return own ?? exampleOf(shape, node);
  const given = ownExample(node);
  switch (shape.kind) {
    case 'object': {
      if (given !== undefined) return given;
      const value: JsonObject = isObject(initial) ? { ...initial } : {};
      for (const { key, schema: property, required } of shape.properties) {
        const asked = required || key in value; // if an optional object contains a default, its required parts get values too
        if (asked && !(isObject(own) && key in own)) value[key] = exampleValue(property, root, depth + 1);
      }
      return value;
    }
    case 'list': {
      if (given !== undefined) return given;
      const least = typeof node['minItems'] === 'number' ? Math.min(node['minItems'], mostItems) : 0;
      // Nested lists multiply the number of values, so each list counts as several levels.
      return Array.from({ length: least }, () => exampleValue(shape.items, root, depth + 3));
    }
    case 'variants':
      if (given !== undefined) return given;
      return exampleValue(shape.branches[0]?.schema ?? true, root, depth + 1);
    default:
      return initial ?? exampleOf(shape, node);
  }
}

/** The default of an object may lack required properties, for example if it is {}. */
const isWhole = (value: Json, shape: Shape): boolean =>
  shape.kind !== 'object' ||
  !isObject(value) ||
  shape.properties.every(({ key, required }) => !required || key in value);

/** Returns the initial value of a new list item or of a schema that the user has just selected. */
export function blankValue(schema: JsonSchema, root: JsonSchema, depth = 0): Json {
  const initial = initialValue(schema, root);
  if (initial !== undefined) return initial;
  const { shape } = readNode(schema, root);
  switch (shape.kind) {
    case 'text':
    case 'moment':
      return '';
    case 'number':
      return 0;
    case 'switch':
      return false;
    case 'choice':
      return shape.options[0]?.value ?? null;
    case 'variants':
      return depth > deepest ? null : blankValue(shape.branches[0]?.schema ?? true, root, depth + 1);
    case 'constant':
    case 'object':
    case 'list':
    case 'json':
      return null;
  }
}

function isEmpty(value: Json): boolean {
  return (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);
}
