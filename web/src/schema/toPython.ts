// Converts a JSON Schema to a Python stub. Each object becomes a TypedDict, and other types become aliases. Stubs allow
// forward and circular references.
import { isObject, type Json, type JsonObject } from '../api/json';
import type { JsonSchema } from '../api/types';
import { freeName, implied, resolve } from './references';

interface Walk {
  root: JsonSchema;
  prefix: string;
  /**
   * Maps a reference to the name of its declaration. The name is reserved before the declaration is generated, so a
   * cycle ends.
   */
  aliases: Map<string, string>;
  taken: Set<string>;
  /** The generated declarations, by schema. Each schema is declared once. */
  known: Map<JsonObject, string>;
  declarations: string[];
}

const anything = 'Any';

/** Declares `<name>`. It also declares `<name>_<property>` for each property that can be a parameter. */
export function toPython(name: string, schema: JsonSchema): string {
  const walk: Walk = {
    root: schema,
    prefix: name,
    aliases: new Map([['#', name]]),
    taken: new Set([name]),
    known: new Map(),
    declarations: [],
  };
  const type = typeOf(schema, walk, name);
  const parameters = parametersOf(schema)
    .map(([key, property]) => alias(`${name}_${key}`, typeOf(property, walk, freeName(name, key, walk.taken))))
    .join('');
  return walk.declarations.join('') + (type === name ? '' : alias(name, type)) + parameters;
}

/** Returns the properties whose names are identifiers. Only these can be parameters. */
export function parametersOf(schema: JsonSchema): [name: string, schema: Json][] {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).filter(([key]) => isName(key));
}

const alias = (name: string, type: string): string => `${name}: TypeAlias = ${type}\n`;

/** Returns the type of a schema. An object with properties is declared under the proposed name. */
function typeOf(schema: Json | undefined, walk: Walk, wanted: string): string {
  if (!isObject(schema)) return schema === false ? 'Never' : anything;
  const type = walk.known.get(schema) ?? plain(schema, walk, wanted);
  walk.known.set(schema, type);
  return schema['nullable'] === true ? union([type, 'None']) : type;
}

function plain(schema: JsonObject, walk: Walk, wanted: string): string {
  const ref = schema['$ref'];
  if (typeof ref === 'string') return aliasOf(ref, walk);
  if ('const' in schema) return literals([schema['const'] ?? null]);
  if (Array.isArray(schema['enum'])) return literals(schema['enum']);
  const type = schema['type'] ?? implied(schema);
  if (Array.isArray(type)) return union(type.map((t) => named(t, schema, walk, wanted)));
  if (type !== undefined) return named(type, schema, walk, wanted);
  const branches = schema['oneOf'] ?? schema['anyOf'];
  // Python has no intersection types, so the first part of allOf is used.
  if (Array.isArray(schema['allOf']) && schema['allOf'].length > 0) return typeOf(schema['allOf'][0], walk, wanted);
  return Array.isArray(branches)
    ? union(branches.map((b) => typeOf(b, walk, freeName(wanted, '', walk.taken))))
    : anything;
}

function named(type: Json, schema: JsonObject, walk: Walk, wanted: string): string {
  switch (type) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'number':
      return 'float';
    case 'integer':
      return 'int';
    case 'array':
      return `list[${itemOf(schema, walk, wanted)}]`;
    case 'object':
      return objectOf(schema, walk, wanted);
    default:
      return anything;
  }
}

function itemOf(schema: JsonObject, walk: Walk, wanted: string): string {
  const name = (): string => freeName(`${wanted}Item`, '', walk.taken);
  const prefix = schema['prefixItems'];
  const rest = schema['items'];
  if (!Array.isArray(prefix)) return typeOf(rest, walk, name());
  const more = rest === false ? [] : [typeOf(rest, walk, name())];
  return union([...prefix.map((s) => typeOf(s, walk, name())), ...more]);
}

function objectOf(schema: JsonObject, walk: Walk, wanted: string): string {
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  if (properties.length === 0) {
    const rest = schema['additionalProperties'];
    return `dict[str, ${isObject(rest) ? typeOf(rest, walk, `${wanted}Value`) : anything}]`;
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  walk.taken.add(wanted);
  const fields = properties.map(([key, property]): Field => {
    const type = typeOf(property, walk, freeName(wanted, key, walk.taken));
    const description = isObject(property) ? property['description'] : undefined;
    return {
      key,
      type: required.includes(key) ? type : `NotRequired[${type}]`,
      about: typeof description === 'string' ? description : '',
    };
  });
  walk.declarations.push(fields.every(({ key }) => isName(key)) ? classOf(wanted, fields) : callOf(wanted, fields));
  return wanted;
}

interface Field {
  key: string;
  type: string;
  about: string;
}

function classOf(name: string, fields: Field[]): string {
  const lines = fields.map(({ key, type, about }) => {
    const doc = about === '' ? '' : `    ${quote(about)}\n`;
    return `    ${key}: ${type}\n${doc}`;
  });
  return `class ${name}(TypedDict):\n${lines.join('')}\n`;
}

/** Keys that are not identifiers need the functional TypedDict syntax. */
function callOf(name: string, fields: Field[]): string {
  const lines = fields.map(({ key, type }) => `    ${quote(key)}: ${type},\n`);
  return `${name} = TypedDict(${quote(name)}, {\n${lines.join('')}})\n\n`;
}

function aliasOf(ref: string, walk: Walk): string {
  const known = walk.aliases.get(ref);
  if (known !== undefined) return known;
  const target = resolve(ref, walk.root);
  if (target === undefined) return anything;
  const name = freeName(walk.prefix, ref.split('/').at(-1) ?? '', walk.taken);
  walk.aliases.set(ref, name);
  walk.taken.add(name);
  const type = typeOf(target, walk, name);
  if (type !== name) walk.declarations.push(alias(name, type));
  return name;
}

function literals(values: Json[]): string {
  return union(
    values.map((value) => {
      if (value === null) return 'None';
      if (typeof value === 'string') return `Literal[${quote(value)}]`;
      if (typeof value === 'boolean') return `Literal[${value ? 'True' : 'False'}]`;
      if (typeof value === 'number') return Number.isInteger(value) ? `Literal[${value}]` : 'float';
      return isObject(value) ? 'dict[str, Any]' : Array.isArray(value) ? 'list[Any]' : anything;
    }),
  );
}

function union(types: string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes(anything)) return anything;
  return distinct.length === 0 ? 'Never' : distinct.join(' | ');
}

/** The escapes of JSON are valid in Python. JSON does not escape characters beyond 16 bits. */
const quote = (text: string): string => JSON.stringify(text);

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
/** Whether a word is reserved in Python. */
export const isKeyword = (name: string): boolean => keywords.has(name);
const isName = (key: string): boolean => /^[A-Za-z_]\w*$/.test(key) && !isKeyword(key);
