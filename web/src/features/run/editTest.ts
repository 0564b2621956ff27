// Contains the texts of a test while the user edits it.
import { isObject, parseJson, stringifyJson, type Json } from '../../api/json';
import type { JsonSchema, Test } from '../../api/types';
import type { SaveState } from '../../draft/session';
import { testsTab as say } from '../../texts/run';

export const kinds = ['output', 'schema', 'matches', 'errorType'] as const;

export interface Typed {
  name: string;
  input: string;
  kind: (typeof kinds)[number];
  output: string;
  matches: string;
  errorType: string;
  ignore: string;
  tags: string;
}

const text = (value: unknown): string => stringifyJson(value, 2);

/** Returns the JSON value of a text, or undefined. */
export function jsonOf(typed: string): Json | undefined {
  try {
    return parseJson(typed);
  } catch {
    return undefined;
  }
}

/** Returns the texts of a test. For a new test it returns initial texts with a free name. */
export function typedOf(test: Test | undefined, tests: readonly Test[]): Typed {
  let n = tests.length + 1;
  while (tests.some((t) => t.name === say.nameOf(n))) n++;
  const expect = test?.expect ?? { output: null };
  return {
    name: test?.name ?? say.nameOf(n),
    input: text(test ? test.input : {}),
    kind: kinds.find((kind) => expect[kind] !== undefined) ?? 'output',
    output: text(expect.output ?? null),
    matches: text(expect.matches ?? { type: 'object' }),
    errorType: expect.errorType ?? '',
    ignore: (test?.ignore ?? []).join('\n'),
    tags: (test?.tags ?? []).join(', '),
  };
}

/** Returns the reason why the JSON of an expectation is wrong, or undefined. */
export function wrongOf(kind: Typed['kind'], typed: string): string | undefined {
  const found = jsonOf(typed);
  if (found === undefined) return say.notJson;
  return kind === 'matches' && typeof found !== 'boolean' && !isObject(found) ? say.notAnObject : undefined;
}

function expectationOf(typed: Typed): Test['expect'] | undefined {
  if (typed.kind === 'schema') return { schema: true };
  if (typed.kind === 'errorType') {
    const errorType = typed.errorType.trim();
    return errorType === '' ? undefined : { errorType };
  }
  const entered = typed[typed.kind];
  if (wrongOf(typed.kind, entered) !== undefined) return undefined;
  const value = jsonOf(entered) ?? null;
  return typed.kind === 'output' ? { output: value } : { matches: value as JsonSchema };
}

const parts = (list: string, by: string): string[] =>
  list.split(by).flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));

/**
 * Returns the test that the texts describe, or undefined if a part is not valid. The source of the test does not
 * change.
 */
export function testOf(typed: Typed, before: Test | undefined): Test | undefined {
  const input = jsonOf(typed.input);
  const expect = expectationOf(typed);
  if (typed.name.trim() === '' || input === undefined || expect === undefined) return undefined;
  const compared = typed.kind === 'output' || typed.kind === 'matches';
  const ignore = compared ? parts(typed.ignore, '\n') : [];
  const tags = [...new Set(parts(typed.tags, ','))];
  return {
    name: typed.name.trim(),
    input,
    expect,
    ...(ignore.length > 0 && { ignore }),
    ...(before?.source !== undefined && { source: before.source }),
    ...(tags.length > 0 && { tags }),
  };
}

/** Returns the reason why a draft with changed tests was not saved, with the labels of the wrong fields. */
export function reasonOf(save: SaveState): string {
  if (save.kind !== 'refused') return say.notSaved;
  const fields = save.fields.map(({ pointer, message }) => `${pointer.replace(/^\/tests\/\d+\//, '')} ${message}`);
  return [save.message, ...fields].join(' ');
}
