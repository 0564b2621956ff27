import { describe, expect, it } from 'vitest';
import { parseJson, parseNumber, stringifyJson } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { faultOffset } from '../locate';
import { check } from '../validate';
import { blankValue, exampleValue, initialValue } from './defaults';
import { reduceInput, startInput, type InputAction, type InputState } from './input';
import { readNode } from './shape';

const weather: JsonSchema = {
  type: 'object',
  required: ['city', 'where'],
  properties: {
    city: { type: 'string', minLength: 1 },
    days: { type: 'integer', minimum: 1, maximum: 14, default: 3 },
    where: { type: 'object', properties: { lat: { type: 'number' } } },
    tags: { type: 'array', items: { type: 'string' } },
  },
};
const after = (state: InputState, ...actions: InputAction[]): InputState => actions.reduce(reduceInput, state);

describe('reduceInput', () => {
  it('begins with defaults and required containers', () => {
    expect(startInput(weather).value).toEqual({ days: 3, where: {} });
  });

  it('keeps keys that the schema does not know, over a round trip', () => {
    const state = after(
      startInput(weather),
      { do: 'mode', mode: 'json' },
      { do: 'text', text: '{"city":"Oslo","extra":[1,{"a":null}]}' },
      { do: 'mode', mode: 'form' },
      { do: 'set', at: '/city', to: 'Bergen' },
    );
    expect(state.value).toEqual({ city: 'Bergen', extra: [1, { a: null }] });
    expect(JSON.parse(state.text)).toEqual(state.value);
  });

  it('keeps text that is not JSON in JSON view', () => {
    const state = after(
      startInput(weather),
      { do: 'mode', mode: 'json' },
      { do: 'text', text: '{\n  "city": }' },
      { do: 'mode', mode: 'form' },
    );
    expect(state.mode).toBe('json');
    expect(state.text).toBe('{\n  "city": }');
    expect(state.fault).toContain('line 2, column 11');
  });

  it('keeps an unfinished number with its field', () => {
    const typed = after(startInput(weather), { do: 'type', at: '/days', text: '-', value: parseNumber('-') });
    expect(typed.partial).toEqual({ '/days': '-' });
    expect(typed.value).toMatchObject({ days: 3 });
    const done = after(typed, { do: 'type', at: '/days', text: '-1', value: parseNumber('-1') });
    expect(done.partial).toEqual({});
    expect(done.value).toMatchObject({ days: -1 });
  });

  it('moves what is half-typed in an item of a list along when one before it is removed', () => {
    const list: JsonSchema = { type: 'array', items: { type: 'object', properties: { '1': { type: 'number' } } } };
    const state = after(
      startInput(list, [{}, {}, {}]),
      { do: 'type', at: '/0/1', text: '-', value: undefined },
      { do: 'type', at: '/1/1', text: '1e', value: undefined },
      { do: 'type', at: '/2/1', text: '2e', value: undefined },
      { do: 'set', at: '/1', to: undefined },
    );
    expect([state.value, state.partial]).toEqual([[{}, {}], { '/0/1': '-', '/1/1': '2e' }]);
  });

  it('removes an emptied number and a list item', () => {
    const state = after(
      startInput(weather, { days: 3, tags: ['a', 'b'] }),
      { do: 'type', at: '/days', text: '', value: undefined },
      { do: 'set', at: '/tags/0', to: undefined },
    );
    expect(state.value).toEqual({ tags: ['b'] });
  });
});

describe('check', () => {
  it('speaks at the field', () => {
    expect(check({ days: 99, where: { lat: 'x' } }, weather)).toEqual([
      { pointer: '/city', message: 'Required.' },
      { pointer: '/days', message: 'Must be at most 14.' },
      { pointer: '/where/lat', message: 'Must be a number.' },
    ]);
  });
  it('leaves a schema it cannot read to the server', () => {
    expect(check({}, { $ref: 'https://example.com/x' })).toEqual([]);
  });
});

describe('readNode', () => {
  it('follows references and survives a cycle', () => {
    const root: JsonSchema = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' }, c: { type: 'integer' } } };
    expect(readNode({ $ref: '#/$defs/c', title: 'C' }, root)).toMatchObject({ shape: { kind: 'number' }, title: 'C' });
    expect(readNode({ $ref: '#/$defs/a' }, root).shape.kind).toBe('json');
  });
  it('gives texts that may be long several lines', () => {
    const lines = (schema: JsonSchema): unknown => readNode(schema, schema).shape;
    for (const more of [{ maxLength: 1_000_000 }, { contentMediaType: 'text/html' }, { 'x-multiline': true }])
      expect(lines({ type: 'string', ...more })).toMatchObject({ multiline: true });
    for (const more of [
      {},
      { maxLength: 100 },
      { maxLength: 2000, format: 'uri' },
      { maxLength: 2000, 'x-secret': true },
      { maxLength: 2000, 'x-multiline': false },
    ])
      expect(lines({ type: 'string', ...more })).toMatchObject({ multiline: false });
  });
  it('ends a recursive default', () => {
    const root: JsonSchema = { type: 'object', required: ['next'], properties: { next: { $ref: '#' } } };
    expect(JSON.stringify(initialValue(root)).length).toBeLessThan(500);
  });
});

describe('exampleValue', () => {
  it('is an input that the schema takes', () => {
    const schema: JsonSchema = {
      type: 'object',
      required: ['city', 'days', 'mail', 'from', 'units', 'place', 'note'],
      properties: {
        city: { type: 'string', minLength: 1 },
        days: { type: 'integer', minimum: 2 },
        mail: { type: 'string', format: 'email' },
        from: { type: 'string', format: 'date' },
        units: { type: 'string', enum: ['metric', 'imperial'] },
        place: { type: 'object', required: ['lat'], properties: { lat: { type: 'number' } } },
        note: { type: 'string', examples: ['By hand'] },
        language: { type: 'string', default: 'en' },
        tags: { type: 'array', items: { type: 'string' } },
      },
    };
    const value = exampleValue(schema);
    expect(check(value, schema)).toEqual([]);
    expect(value).toMatchObject({ days: 2, units: 'metric', note: 'By hand', language: 'en' });
    expect(value).not.toHaveProperty('tags');
  });

  it.each<[JsonSchema, unknown]>([
    [{ type: 'integer', exclusiveMinimum: 3 }, 4],
    [{ type: 'integer', exclusiveMaximum: 0 }, -1],
    [{ type: 'integer', minimum: 3, multipleOf: 5 }, 5],
    [{ type: 'integer', exclusiveMinimum: 5, multipleOf: 5 }, 10],
    [{ type: 'integer', minimum: 0.5 }, 1],
    [{ type: 'integer', maximum: -3 }, -3],
    [{ type: 'integer', minimum: -3 }, 0],
    [{ type: 'number', exclusiveMinimum: 0 }, 1],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: 'number', exclusiveMinimum: 0, multipleOf: 0.1 }, 0.1],
    [{ type: 'string' }, 'text'],
    [{ type: 'string', minLength: 9 }, 'texttextt'],
    [{ type: 'string', maxLength: 2 }, 'te'],
    [{ type: 'string', format: 'uri' }, 'https://example.com'],
    [{ type: 'string', format: 'date-time' }, '2026-01-31T12:00:00Z'],
    [{ type: 'string', format: 'date-time', 'x-secret': true }, '2026-01-31T12:00:00Z'],
    [{ type: 'string', format: 'uuid' }, '123e4567-e89b-42d3-a456-426614174000'],
    [{ type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2 }, [1, 1]],
    [{ type: 'array', items: { type: 'string' } }, []],
    [
      { oneOf: [{ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }, { type: 'string' }] },
      { a: 0 },
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }], examples: [7] }, 7],
    [{ type: 'array', items: { type: 'string' }, minItems: 1, examples: [['a']] }, ['a']],
    [{ type: 'array', items: { type: 'string' }, examples: [] }, []],
    [{ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], examples: [{ a: 7 }] }, { a: 7 }],
    [{ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], default: {} }, { a: 0 }],
    [
      {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'integer' } },
        required: ['a', 'b'],
        default: { a: 7 },
      },
      { a: 7, b: 0 },
    ],
    [
      {
        type: 'object',
        properties: { a: { type: 'integer' } },
        required: ['a'],
        default: {},
        examples: [{ a: 7 }],
      },
      { a: 7 },
    ],
    [
      {
        type: 'object',
        properties: {
          more: {
            type: 'object',
            properties: { a: { type: 'integer' }, b: { type: 'integer', default: 7 } },
            required: ['a'],
          },
        },
      },
      { more: { a: 0, b: 7 } },
    ],
  ])('keeps the limits of %j', (schema, want) => {
    const value = exampleValue(schema);
    expect(value).toEqual(want);
    expect(check(value, schema)).toEqual([]);
  });

  it('leaves a pattern alone', () => {
    expect(exampleValue({ type: 'string', pattern: '^[0-9]{4}$' })).toBe('text');
  });
});

describe('blankValue', () => {
  it('is of the first of several shapes, however deep that is', () => {
    const nested: JsonSchema = { oneOf: [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'boolean' }] };
    const endless: JsonSchema = { oneOf: [{ $ref: '#' }, { type: 'boolean' }] };
    expect(blankValue(nested, nested)).toBe('');
    expect(blankValue(endless, endless)).toBe(null);
  });
});

describe('faultOffset', () => {
  const cases: Record<string, number | undefined> = {
    '{"a":[1,-2.5e3,true,null,"\\u00e9"]}': undefined,
    '{"a":}': 5,
    '[1,]': 3,
    '{"a":1,}': 7,
    '{"a" 1}': 5,
    '[1 2]': 3,
    '"open': 0,
    '{"a":1} x': 8,
    '': 0,
    tru: 0,
  };
  for (const [text, want] of Object.entries(cases)) {
    it(JSON.stringify(text), () => {
      expect(faultOffset(text)).toBe(want);
    });
  }
});

describe('json', () => {
  it('keeps every digit and the order of keys', () => {
    const text = '{"b":12345678901234567890,"a":1.0,"c":1e400}';
    const keeps = 'rawJSON' in JSON;
    expect(stringifyJson(parseJson(text))).toBe(keeps ? text : '{"b":12345678901234567000,"a":1,"c":null}');
  });
});
