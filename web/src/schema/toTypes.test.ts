import { describe, expect, it } from 'vitest';
import ts from 'typescript';
import type { JsonSchema } from '../api/types';
import { toTypes } from './toTypes';

const cases: Record<string, { schema: JsonSchema; want: string }> = {
  'required and optional properties': {
    schema: { type: 'object', required: ['city'], properties: { city: { type: 'string' }, days: { type: 'integer' } } },
    want: 'type Input = {\n  city: string;\n  days?: number;\n};\n',
  },
  'descriptions and limits become documentation': {
    schema: { properties: { days: { type: 'integer', description: 'How far */ ahead', minimum: 1 } } },
    want: 'type Input = {\n  /**\n   * How far *\\/ ahead\n   * @minimum 1\n   */\n  days?: number;\n};\n',
  },
  'enum, const and nullable': {
    schema: { properties: { a: { enum: ['x', 1, null] }, b: { const: true }, c: { type: 'string', nullable: true } } },
    want: 'type Input = {\n  a?: "x" | 1 | null;\n  b?: true;\n  c?: string | null;\n};\n',
  },
  'a list of types': { schema: { type: ['string', 'null'] }, want: 'type Input = string | null;\n' },
  'arrays and tuples': {
    schema: {
      properties: {
        many: { type: 'array', items: { type: ['string', 'number'] } },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      },
    },
    want: 'type Input = {\n  many?: Array<string | number>;\n  pair?: [string, number];\n};\n',
  },
  'a map': {
    schema: { type: 'object', additionalProperties: { type: 'number' } },
    want: 'type Input = {\n  [key: string]: number;\n};\n',
  },
  'oneOf and allOf': {
    schema: { oneOf: [{ type: 'string' }, { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }] },
    want: 'type Input = string | {\n  a?: unknown;\n} & {\n  b?: unknown;\n};\n',
  },
  'a recursive reference is a named alias': {
    schema: {
      properties: { tree: { $ref: '#/$defs/tree-node' } },
      $defs: { 'tree-node': { properties: { children: { type: 'array', items: { $ref: '#/$defs/tree-node' } } } } },
    },
    want: 'type Input = {\n  tree?: InputTreeNode;\n};\ntype InputTreeNode = {\n  children?: Array<InputTreeNode>;\n};\n',
  },
  'a reference to the root': {
    schema: { properties: { parent: { $ref: '#' } } },
    want: 'type Input = {\n  parent?: Input;\n};\n',
  },
  'names that are no identifiers': {
    schema: { properties: { 'x-y': { type: 'string' } } },
    want: 'type Input = {\n  "x-y"?: string;\n};\n',
  },
  'what types cannot say': { schema: { not: {} }, want: 'type Input = unknown;\n' },
  'a reference elsewhere': { schema: { $ref: 'https://example.com/x' }, want: 'type Input = unknown;\n' },
  'an alias of itself': {
    schema: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
    want: 'type Input = InputA;\ntype InputA = unknown;\n',
  },
  'true, false and the empty schema': { schema: true, want: 'type Input = unknown;\n' },
  'no properties allowed': {
    schema: { type: 'object', additionalProperties: false },
    want: 'type Input = Record<string, never>;\n',
  },
};

describe('toTypes', () => {
  for (const [name, { schema, want }] of Object.entries(cases)) {
    it(name, () => {
      expect(toTypes('Input', schema)).toBe(want);
    });
  }

  it('is always a program that TypeScript takes', () => {
    for (const { schema } of Object.values(cases)) {
      const { diagnostics } = ts.transpileModule(toTypes('Input', schema), { reportDiagnostics: true });
      expect(diagnostics).toEqual([]);
    }
  });

  it('ends on two references that are each other', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(toTypes('Input', schema)).toContain('type InputA');
  });
});
