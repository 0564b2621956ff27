// Splits a proposal into parts, so that the user can accept or skip each part.
import { stringifyJson } from '../../api/json';
import type { Files, JsonSchema, Proposal, Test } from '../../api/types';
import { proposals as say } from '../../texts/assist';

export type PartKind = 'file' | 'input' | 'output' | 'tests';

export interface Part {
  id: string;
  kind: PartKind;
  title: string;
  /** A file path that selects the language of the difference. */
  path: string;
  before: string;
  after: string;
}

/** The fields that a proposal may change. */
export interface Before {
  files: Files;
  inputSchema: JsonSchema | undefined;
  outputSchema: JsonSchema | undefined;
  tests: readonly Test[];
}

export type Changes = Pick<Proposal, 'files' | 'schemas' | 'tests'>;

export const nothing: Before = { files: {}, inputSchema: undefined, outputSchema: undefined, tests: [] };

/** Returns the parts that the proposal changes. */
export function partsOf(before: Before, { files, schemas, tests = [] }: Changes): Part[] {
  const fileParts = Object.entries(files).map(([path, after]): Part => ({
    id: `file ${path}`,
    kind: 'file',
    title: path,
    path,
    before: textOf(before.files[path]),
    after: textOf(after),
  }));
  const json = (kind: PartKind, title: string, was: unknown, now: unknown): Part[] =>
    now === undefined
      ? []
      : [
          {
            id: kind,
            kind,
            title,
            path: `${kind}.json`,
            before: was === undefined ? '' : pretty(was),
            after: pretty(now),
          },
        ];
  return [
    ...fileParts,
    ...json('input', say.inputSchema, before.inputSchema, schemas?.input),
    ...json('output', say.outputSchema, before.outputSchema, schemas?.output),
    ...json('tests', say.tests, before.tests.length === 0 ? undefined : before.tests, added(before.tests, tests)),
  ].filter((part) => part.before !== part.after);
}

/** Adds new tests to the tests and keeps the names unique. Returns undefined if there are no new tests. */
export function added(before: readonly Test[], tests: readonly Test[]): Test[] | undefined {
  if (tests.length === 0) return undefined;
  const taken = new Set(before.map(({ name }) => name));
  return [
    ...before,
    ...tests.map((test) => {
      let name = test.name;
      for (let n = 2; taken.has(name); n++) name = `${test.name} (${n})`;
      taken.add(name);
      return { ...test, name };
    }),
  ];
}

const pretty = (value: unknown): string => `${stringifyJson(value, 2)}\n`;
const textOf = (file: Files[string] | undefined): string => (typeof file === 'string' ? file : '');
