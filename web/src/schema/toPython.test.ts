import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../api/types';
import { toPython } from './toPython';

const cases: Record<string, { schema: JsonSchema; want: string }> = {
  'required and optional properties, each a parameter as well': {
    schema: {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string', description: 'A "name"' }, days: { type: 'integer' } },
    },
    want:
      'class Input(TypedDict):\n    city: str\n    "A \\"name\\""\n    days: NotRequired[int]\n\n' +
      'Input_city: TypeAlias = str\nInput_days: TypeAlias = int\n',
  },
  'enum, const and nullable': {
    schema: {
      properties: { a: { enum: ['x"', 1, null, 1.5] }, b: { const: true }, c: { type: 'string', nullable: true } },
    },
    want:
      'class Input(TypedDict):\n    a: NotRequired[Literal["x\\""] | Literal[1] | None | float]\n' +
      '    b: NotRequired[Literal[True]]\n    c: NotRequired[str | None]\n\n' +
      'Input_a: TypeAlias = Literal["x\\""] | Literal[1] | None | float\nInput_b: TypeAlias = Literal[True]\nInput_c: TypeAlias = str | None\n',
  },
  'names that are no identifiers': {
    schema: { required: ['a-b', 'class'], properties: { 'a-b': { type: 'number' }, class: {} } },
    want: 'Input = TypedDict("Input", {\n    "a-b": float,\n    "class": Any,\n})\n\n',
  },
  'what is no object': {
    schema: { type: ['array', 'null'], items: { type: 'string' } },
    want: 'Input: TypeAlias = list[str] | None\n',
  },
  'a tuple is a list of any of its parts': {
    schema: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    want: 'Input: TypeAlias = list[str | float]\n',
  },
  'maps, and objects within': {
    schema: { type: 'object', additionalProperties: { properties: { n: { type: 'integer' } } } },
    want: 'class InputValue(TypedDict):\n    n: NotRequired[int]\n\nInput: TypeAlias = dict[str, InputValue]\n',
  },
  'oneOf and allOf': {
    schema: { oneOf: [{ type: 'string' }, { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }] },
    want: 'class Input2(TypedDict):\n    a: NotRequired[Any]\n\nInput: TypeAlias = str | Input2\n',
  },
  'a recursive reference ends at its name': {
    schema: {
      properties: { 'tree-': { $ref: '#/$defs/tree-node' } },
      $defs: { 'tree-node': { properties: { down: { type: 'array', items: { $ref: '#/$defs/tree-node' } } } } },
    },
    want:
      'class InputTreeNode(TypedDict):\n    down: NotRequired[list[InputTreeNode]]\n\n' +
      'Input = TypedDict("Input", {\n    "tree-": NotRequired[InputTreeNode],\n})\n\n',
  },
  'an object within is declared once': {
    schema: { properties: { at: { properties: { x: { type: 'number' } } } } },
    want:
      'class InputAt(TypedDict):\n    x: NotRequired[float]\n\n' +
      'class Input(TypedDict):\n    at: NotRequired[InputAt]\n\nInput_at: TypeAlias = InputAt\n',
  },
  'what nothing is known of': { schema: true, want: 'Input: TypeAlias = Any\n' },
  'what cannot be': { schema: false, want: 'Input: TypeAlias = Never\n' },
  'a reference that leads nowhere': { schema: { $ref: '#/$defs/gone' }, want: 'Input: TypeAlias = Any\n' },
};

describe('toPython', () => {
  it.each(Object.entries(cases))('%s', (_name, { schema, want }) => {
    expect(toPython('Input', schema)).toBe(want);
  });
});
