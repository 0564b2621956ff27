import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { explain } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { generateTests } from '../../api/verbs';
import { closeDialog } from '../../state/dialogs';
import { common } from '../../texts/common';
import { testsTab as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Waiting } from '../../ui/Waiting';
import { useOpenAgent } from '../../agent/openAgent';
import css from './TestsTab.module.css';

/** Shows tests that the server made from the input schema, and adds those that the user selects. */
export function GenerateTestsDialog() {
  const { id, name, fields, session } = useOpenAgent();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const found = useQuery({
    queryKey: ['generateTests', id],
    queryFn: async () => {
      if (!session || !(await session.flush())) throw new Error(say.notSaved);
      return session.withRevision((revision) => generateTests(name, revision));
    },
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const cases = found.isFetching ? [] : (found.data?.cases ?? []);
  const keep = (): void => {
    const tests = fields.tests ?? [];
    const taken = new Set(tests.map((t) => t.name));
    const free = (wanted: string): string => {
      let n = 2;
      let given = wanted;
      while (taken.has(given)) given = `${wanted} (${n++})`;
      taken.add(given);
      return given;
    };
    const picked = cases.flatMap(({ test }) => (chosen.has(test.name) ? [{ ...test, name: free(test.name) }] : []));
    session?.editDraft({ tests: [...tests, ...picked] });
    closeDialog();
  };
  const choose = (test: string, on: boolean): void =>
    setChosen((now) => new Set(on ? [...now, test] : [...now].filter((other) => other !== test)));
  return (
    <Dialog
      wide
      title={say.generate}
      about={say.generateAbout}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button
            disabled={found.isFetching}
            onClick={() => {
              setChosen(new Set());
              void found.refetch();
            }}
          >
            {say.again}
          </Button>
          <Button look="primary" disabled={chosen.size === 0} onClick={keep}>
            {say.keepChosen(chosen.size)}
          </Button>
        </>
      }
    >
      {found.isFetching && <Waiting shape="lines" what={say.generating} retry />}
      <Fault message={found.error ? say.notGenerated(explain(found.error)) : undefined} />
      {cases.length > 0 && (
        <>
          <p role="status">{say.found(found.data?.failed ?? 0, cases.length)}</p>
          <ul className={css.generated}>
            {cases.map(({ test, kind, result }) => (
              <li key={test.name}>
                <label>
                  <input
                    type="checkbox"
                    checked={chosen.has(test.name)}
                    onChange={(e) => choose(test.name, e.target.checked)}
                  />{' '}
                  <span className={result.passed ? css.ok : css.err}>{result.passed ? say.passed : say.failed}</span>{' '}
                  {say.kinds[kind]} <code>{stringifyJson(test.input).slice(0, 300)}</code>
                </label>
                {!result.passed && <p className={css.err}>{result.message}</p>}
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
