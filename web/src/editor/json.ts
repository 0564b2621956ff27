// Sets up JSON in the editor. Schema files complete JSON Schema keywords. The editor downloads no schemas.
import type { JsonSchema } from '../api/types';
import { json } from './monaco';

const any = { $ref: '#' };
const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const number = { type: 'number' };
const flag = { type: 'boolean' };
const schemas = { type: 'array', items: any };
const named = { type: 'object', additionalProperties: any };
const typeName = { enum: ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] };

const keywords = {
  type: ['object', 'boolean'],
  properties: {
    type: { anyOf: [typeName, { type: 'array', items: typeName }] },
    title: text,
    description: text,
    default: {},
    examples: { type: 'array' },
    const: {},
    enum: { type: 'array', minItems: 1 },
    properties: named,
    required: { type: 'array', items: text },
    additionalProperties: any,
    patternProperties: named,
    minProperties: count,
    maxProperties: count,
    items: any,
    prefixItems: schemas,
    minItems: count,
    maxItems: count,
    uniqueItems: flag,
    minLength: count,
    maxLength: count,
    pattern: text,
    format: { anyOf: [{ enum: ['date', 'date-time', 'email', 'uri', 'uuid'] }, text] },
    minimum: number,
    maximum: number,
    exclusiveMinimum: number,
    exclusiveMaximum: number,
    multipleOf: number,
    oneOf: schemas,
    anyOf: schemas,
    allOf: schemas,
    not: any,
    if: any,
    then: any,
    else: any,
    $ref: text,
    $defs: named,
    deprecated: flag,
    'x-multiline': flag,
    'x-secret': flag,
    'x-view': {
      anyOf: [
        { enum: ['markdown', 'text', 'table'] },
        {
          type: 'object',
          properties: {
            chart: { enum: ['line', 'area', 'bar', 'scatter'] },
            x: text,
            y: { anyOf: [text, { type: 'array', items: text }] },
          },
          required: ['chart', 'x', 'y'],
        },
      ],
    },
  },
};

// The name starts with a dot, which no file of an agent does. So the schema of the input applies to no file of the
// agent.
export const inputFile = '.input.json';

export function setUpJson(): void {
  checkInput({});
}

/** Sets the schema with which the input of a run is completed and checked. */
export function checkInput(schema: JsonSchema): void {
  json.jsonDefaults.setDiagnosticsOptions({
    validate: true,
    enableSchemaRequest: false,
    allowComments: false,
    schemaValidation: 'error',
    schemas: [
      { uri: 'atelier://schema-keywords', fileMatch: ['*.schema.json'], schema: keywords },
      { uri: 'atelier://input-schema', fileMatch: [inputFile], schema },
    ],
  });
}
