import { CircleCheck, CircleDashed, CircleX, Pencil, Play, Trash2 } from 'lucide-react';
import { stringifyJson, type Json } from '../../api/json';
import type { Test, TestDifference, TestResult } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { milliseconds } from '../../texts/format';
import { testsTab as say } from '../../texts/run';
import { Button, IconButton } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { StateMark } from '../../ui/StateMark';
import { StartButton } from './StartButton';
import css from './TestsTab.module.css';
import type { TestsHandle } from './useTests';

/** Shows the tests of the agent with their results. */
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
        <span role="status">
          {ran.length > 0 ? say.passedOf(ran.filter((r) => r.passed).length, ran.length) : say.noneRan(tests.length)}
        </span>
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
  const { name, input, tags = [] } = test;
  return (
    <li aria-label={name}>
      <div className={css.row}>
        <div className={css.name}>
          <strong>{name}</strong>
          {tags.length > 0 && <small>{tags.join(', ')}</small>}
        </div>
        <Short label={say.theInput} text={stringifyJson(input)} />
        <Short label={say.expected} text={expectationOf(test)} />
        <Mark result={result} />
        <span className={css.actions}>
          <IconButton small disabled={busy} label={say.run(name)} onClick={onRun}>
            <Play size={14} aria-hidden />
          </IconButton>
          {onEdit && (
            <IconButton small disabled={busy} label={say.edit(name)} onClick={onEdit}>
              <Pencil size={14} aria-hidden />
            </IconButton>
          )}
          {onRemove && (
            <IconButton small disabled={busy} label={say.remove(name)} onClick={onRemove}>
              <Trash2 size={14} aria-hidden />
            </IconButton>
          )}
        </span>
      </div>
      {result && !result.passed && (
        <div className={css.why}>
          <p>{result.message}</p>
          {result.differences && <Differences name={name} differences={result.differences} />}
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

/** Shows a value in one line. The tooltip contains the whole value. */
function Short({ label, text }: { label: string; text: string }) {
  return (
    <span className={css.short} title={text}>
      <small>{label}</small>
      <code>{text.slice(0, 200)}</code>
    </span>
  );
}

function expectationOf({ expect: { errorType, matches, output, schema } }: Test): string {
  if (errorType !== undefined) return say.fails(errorType);
  if (matches !== undefined) return say.matches(stringifyJson(matches));
  return schema === true || output === undefined ? say.fits : stringifyJson(output);
}

function Mark({ result }: { result: TestResult | undefined }) {
  if (!result) {
    return (
      <StateMark look="quiet" icon={CircleDashed}>
        {say.notRun}
      </StateMark>
    );
  }
  return (
    <StateMark look={result.passed ? 'ok' : 'err'} icon={result.passed ? CircleCheck : CircleX}>
      {result.passed ? say.passed : say.failed}
      {result.runId !== undefined && <small> {milliseconds(result.runMs)}</small>}
    </StateMark>
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
