import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import { stringifyJson, type Json } from '../../api/json';
import type { Test, TestDifference, TestResult } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { milliseconds } from '../../texts/format';
import { testsTab as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { StartButton } from './StartButton';
import css from './TestsTab.module.css';
import type { TestsHandle } from './useTests';

/** The tests of the agent with their results. */
export function TestsTab({ handle }: { handle: TestsHandle }) {
  const { tests, results, busy, fault, run, change } = handle;
  const more = change && (
    <>
      <Button onClick={() => showDialog({ kind: 'editTest' })}>{say.add}</Button>
      <Button onClick={() => showDialog({ kind: 'generateTests' })}>{say.generate}</Button>
    </>
  );
  if (tests.length === 0)
    return (
      <Empty
        actions={
          <>
            <StartButton /> {more}
          </>
        }
      >
        {say.none}
      </Empty>
    );
  const ran = tests.flatMap((t) => results.get(t.name) ?? []);
  const update = (test: Test, result: TestResult): void => {
    const expect = result.errorType === undefined ? { output: result.output ?? null } : { errorType: result.errorType };
    change?.(tests.map((t) => (t.name === test.name ? { ...t, expect } : t)));
    run([test.name]);
  };
  return (
    <div className={css.list}>
      <div className={css.bar}>
        <Button look="primary" disabled={busy} onClick={() => run([])}>
          {busy ? say.running : say.runAll}
        </Button>
        {more}
        <span role="status">{ran.length > 0 && say.passedOf(ran.filter((r) => r.passed).length, ran.length)}</span>
      </div>
      <Fault message={fault} />
      <ul aria-label={say.test}>
        {tests.map((test) => (
          <Row
            key={test.name}
            test={test}
            result={results.get(test.name)}
            busy={busy}
            onRun={() => run([test.name])}
            onUpdate={change && ((result) => update(test, result))}
            onEdit={change && (() => showDialog({ kind: 'editTest', test: test.name }))}
            onRemove={change && (() => change(tests.filter((t) => t.name !== test.name)))}
          />
        ))}
      </ul>
    </div>
  );
}

interface RowProps {
  test: Test;
  result: TestResult | undefined;
  busy: boolean;
  onRun: () => void;
  onUpdate: ((result: TestResult) => void) | undefined;
  onEdit: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}

function Row({ test, result, busy, onRun, onUpdate, onEdit, onRemove }: RowProps) {
  return (
    <li aria-label={test.name}>
      <div className={css.row}>
        <Mark result={result} />
        <strong>{test.name}</strong>
        {test.tags && test.tags.length > 0 && <span className={css.quiet}>{test.tags.join(', ')}</span>}
        <span className={css.quiet}>{result && result.runId !== undefined && milliseconds(result.runMs)}</span>
        <span className={css.actions}>
          <Button look="link" disabled={busy} aria-label={say.run(test.name)} onClick={onRun}>
            {say.run('')}
          </Button>
          {onEdit && (
            <Button look="link" disabled={busy} aria-label={say.edit(test.name)} onClick={onEdit}>
              {say.edit('')}
            </Button>
          )}
          {onRemove && (
            <Button look="link" disabled={busy} aria-label={say.remove(test.name)} onClick={onRemove}>
              {say.remove('')}
            </Button>
          )}
        </span>
      </div>
      {result && !result.passed && (
        <div className={css.why}>
          <p>{result.message}</p>
          {result.differences && <Differences name={test.name} differences={result.differences} />}
          {onUpdate && (result.errorType !== undefined || result.output !== undefined) && (
            <Button disabled={busy} onClick={() => onUpdate(result)}>
              {say.update}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

function Mark({ result }: { result: TestResult | undefined }) {
  const [look, text, Icon] = result
    ? result.passed
      ? (['ok', say.passed, CircleCheck] as const)
      : (['err', say.failed, CircleX] as const)
    : (['quiet', say.notRun, CircleDashed] as const);
  return (
    <span className={css[look]}>
      <Icon size={14} aria-hidden />
      <span className="visually-hidden">{text}</span>
    </span>
  );
}

function Differences({ name, differences }: { name: string; differences: TestDifference[] }) {
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={say.differences(name)}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say.at}</th>
            <th scope="col">{say.expected}</th>
            <th scope="col">{say.actual}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map((d) => (
            <tr key={d.pointer + d.message}>
              <td>
                <code>{d.pointer === '' ? '/' : d.pointer}</code> {d.message}
              </td>
              <td>{valueOf(d.expected)}</td>
              <td>{valueOf(d.actual)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const valueOf = (value: Json | undefined) => value !== undefined && <code>{stringifyJson(value)}</code>;
