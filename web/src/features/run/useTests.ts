// The tests of the open agent and their last results.
import { useState } from 'react';
import { explain } from '../../api/http';
import type { Test, TestResult } from '../../api/types';
import { runTests } from '../../api/verbs';
import { notify } from '../../state/notices';
import { testsTab as say } from '../../texts/run';
import { useOpenAgent } from '../../agent/openAgent';

export interface TestsHandle {
  tests: readonly Test[];
  results: ReadonlyMap<string, TestResult>;
  busy: boolean;
  /** Why the tests could not be run. */
  fault: string | undefined;
  /** Runs the tests with these names, or all. */
  run: (names: string[]) => void;
  /** Replaces the tests of the draft; undefined for a version. */
  change: ((tests: Test[]) => void) | undefined;
}

export function useTests(): TestsHandle {
  const { id, name, version, fields, session } = useOpenAgent();
  const [results, setResults] = useState<ReadonlyMap<string, TestResult>>(new Map());
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
    const ask = (revision?: number): ReturnType<typeof runTests> => runTests(name, version, names, revision);
    const report = await (session && version === undefined ? session.withRevision(ask) : ask());
    setResults((before) => new Map([...before, ...report.results.map((r) => [r.name, r] as const)]));
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
  return { tests: fields.tests ?? [], results, busy, fault, run, change: session && change };
}
