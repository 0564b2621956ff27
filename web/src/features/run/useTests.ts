// Manages the tests of the open agent and their last results.
import { useState } from 'react';
import { explain } from '../../api/http';
import type { Test, TestResult } from '../../api/types';
import { runTests } from '../../api/verbs';
import { stringifyJson } from '../../api/json';
import { notify } from '../../state/notices';
import { testsTab as say } from '../../texts/run';
import { useOpenAgent } from '../../agent/openAgent';

export interface TestsHandle {
  tests: readonly Test[];
  results: ReadonlyMap<string, TestResult>;
  busy: boolean;
  /** The reason why the tests could not be run. */
  fault: string | undefined;
  /** Runs the tests with the given names, or all tests. */
  run: (names: string[]) => void;
  /** Replaces the tests of the draft; undefined for a version. */
  change: ((tests: Test[]) => void) | undefined;
}

/** Returns the parts of a test on which its result depends. */
const caseOf = ({ input, expect, ignore }: Test): string => stringifyJson([input, expect, ignore ?? []]);

interface Ran {
  of: string | undefined;
  result: TestResult;
}

export function useTests(): TestsHandle {
  const { id, name, version, fields, session } = useOpenAgent();
  const [results, setResults] = useState<ReadonlyMap<string, Ran>>(new Map());
  const [shown, setShown] = useState(id + (version ?? ''));
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  if (shown !== id + (version ?? '')) {
    setShown(id + (version ?? ''));
    setResults(new Map());
    setFault(undefined);
  }
  const work = async (names: string[]): Promise<void> => {
    if (session && !(await session.flush())) throw new Error(say.notSaved);
    const asked = session ? session.get().draft.tests : fields.tests;
    const ask = (revision?: number): ReturnType<typeof runTests> => runTests(name, version, names, revision);
    const report = await (session && version === undefined ? session.withRevision(ask) : ask());
    const tests = new Map((asked ?? []).map((t) => [t.name, caseOf(t)]));
    setResults(
      (before) =>
        new Map([...before, ...report.results.map((r) => [r.name, { of: tests.get(r.name), result: r }] as const)]),
    );
  };
  const run = (names: string[]): void => {
    setBusy(true);
    setFault(undefined);
    work(names).then(
      () => setBusy(false),
      (error: unknown) => {
        setBusy(false);
        setFault(explain(error));
      },
    );
  };
  const change = (tests: Test[]): void => {
    const before = fields.tests ?? [];
    session?.editDraft({ tests });
    const removed = before.find((t) => !tests.some((other) => other.name === t.name));
    if (removed)
      notify('done', say.removed(removed.name), { label: say.undo, run: () => session?.editDraft({ tests: before }) });
  };
  const tests = fields.tests ?? [];
  const current = new Map<string, TestResult>(); // omits the results of tests that were edited since then
  for (const test of tests) {
    const ran = results.get(test.name);
    if (ran?.of === caseOf(test)) current.set(test.name, ran.result);
  }
  return { tests, results: current, busy, fault, run, change: session && change };
}
