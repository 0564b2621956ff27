import { useState } from 'react';
import type { ReplayItem, ReplayReport } from '../../api/types';
import { replay } from '../../api/verbs';
import { milliseconds, plural } from '../../app/format';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import { Check, Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import css from './ReplaySection.module.css';

const words: Record<ReplayItem['verdict'], string> = {
  same: 'Same output',
  changed: 'Another output',
  fails: 'Fails now',
  refused: 'Input refused now',
  mended: 'Works now',
};

const counts = [5, 20, 50, 100];

interface Props {
  name: string;
  latestVersion: string;
  count: number;
  onCount: (count: number) => void;
  /** Whether publishing depends on it. */
  gate: boolean;
  onGate: (gate: boolean) => void;
  /** Saves the draft, since the server runs what it has. */
  flush: () => Promise<boolean>;
}

/** What callers of the latest version would notice: its recorded inputs, run against the draft. */
export function ReplaySection({ name, latestVersion, count, onCount, gate, onGate, flush }: Props) {
  const [report, setReport] = useState<ReplayReport>();
  const task = useTask();
  const go = (): void =>
    task.run(async () => {
      setReport(undefined);
      if (!(await flush())) throw new Error('The draft is not saved yet.');
      setReport(await replay(name, count));
    });
  return (
    <section className={css.section} aria-label="Replay">
      <h3>Replay</h3>
      <p className={css.quiet}>
        Runs what {latestVersion} was called with against the draft, and tells what is otherwise.
      </p>
      <div className={css.bar}>
        <Field label="Recorded inputs" hideLabel>
          {(control) => (
            <select {...control} value={count} onChange={(e) => onCount(Number(e.target.value))}>
              {counts.map((n) => (
                <option key={n} value={n}>
                  Last {n} inputs
                </option>
              ))}
            </select>
          )}
        </Field>
        <Button disabled={task.busy} onClick={go}>
          {task.busy ? 'Replaying…' : 'Replay'}
        </Button>
      </div>
      <Fault message={task.fault} />
      {report && <Findings report={report} />}
      <Check
        label="Publish only if they are answered as before"
        hint="The server replays once more when it publishes, and refuses if an output changed or a run fails."
        checked={gate}
        onChange={onGate}
      />
    </section>
  );
}

function Findings({ report }: { report: ReplayReport }) {
  const noticed = report.items.filter((item) => item.verdict !== 'same' || item.slower);
  if (report.items.length === 0) return <p role="status">No run of {report.version} is recorded yet.</p>;
  return (
    <>
      <p role="status">
        {noticed.length === 0
          ? `The draft answers ${plural(report.items.length, 'recorded input')} as ${report.version} did.`
          : `${noticed.length} of ${plural(report.items.length, 'recorded input')} ${noticed.length === 1 ? 'differs' : 'differ'}.`}
      </p>
      <ul className={css.list} aria-label="What differs" hidden={noticed.length === 0}>
        {noticed.map((item) => (
          <Finding key={item.before.runId} item={item} from={report.version} />
        ))}
      </ul>
    </>
  );
}

function Finding({ item: { verdict, slower, before, after }, from }: { item: ReplayItem; from: string }) {
  return (
    <li data-verdict={verdict}>
      <strong>
        {words[verdict]}
        {slower && ', slower'}
      </strong>
      {verdict !== 'refused' && (
        <span>
          {milliseconds(before.runMs)} → {milliseconds(after.runMs)}
        </span>
      )}
      {verdict !== 'same' && (
        <dl>
          <dt>{from}</dt>
          <dd>{before.message ?? shown(before.output)}</dd>
          <dt>draft</dt>
          <dd>{after.message ?? shown(after.output)}</dd>
        </dl>
      )}
    </li>
  );
}

function shown(output: unknown): string {
  if (output === undefined) return 'too large to show';
  const text = JSON.stringify(output);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
