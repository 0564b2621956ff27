import { useState } from 'react';
import { explain } from '../../api/http';
import type { ReplayItem, ReplayReport } from '../../api/types';
import { replay } from '../../api/verbs';
import { plural } from '../../app/format';
import { Button } from '../../ui/Button';
import css from './ReplaySection.module.css';

type State =
  { kind: 'idle' } | { kind: 'busy' } | { kind: 'failed'; message: string } | { kind: 'done'; report: ReplayReport };

const words: Record<ReplayItem['verdict'], string> = {
  same: 'Same output',
  changed: 'Another output',
  fails: 'Fails now',
  refused: 'Input refused now',
  mended: 'Works now',
};

interface Props {
  name: string;
  latestVersion: string;
  /** Saves the draft, since the server runs what it has. */
  flush: () => Promise<boolean>;
}

/** What callers of the latest version would notice: its recorded inputs, run against the draft. */
export function ReplaySection({ name, latestVersion, flush }: Props) {
  const [state, setState] = useState<State>({ kind: 'idle' });
  const go = async (): Promise<void> => {
    setState({ kind: 'busy' });
    if (!(await flush())) return setState({ kind: 'failed', message: 'The draft is not saved yet.' });
    try {
      setState({ kind: 'done', report: await replay(name) });
    } catch (error) {
      setState({ kind: 'failed', message: explain(error) });
    }
  };
  return (
    <section className={css.section} aria-label="Replay">
      <div className={css.bar}>
        <Button disabled={state.kind === 'busy'} onClick={() => void go()}>
          {state.kind === 'busy' ? 'Replaying…' : 'Replay recorded inputs'}
        </Button>
        <span className={css.quiet}>Runs what {latestVersion} was called with against the draft.</span>
      </div>
      {state.kind === 'failed' && (
        <p role="alert" className={css.error}>
          {state.message}
        </p>
      )}
      {state.kind === 'done' && <Findings report={state.report} />}
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
          : `${noticed.length} of ${plural(report.items.length, 'recorded input')} differ.`}
      </p>
      <ul className={css.list} hidden={noticed.length === 0}>
        {noticed.map((item) => (
          <li key={item.before.runId} data-verdict={item.verdict}>
            <strong>
              {words[item.verdict]}
              {item.slower && ', slower'}
            </strong>
            <span>
              {item.before.runMs.toFixed(1)} ms → {item.after.runMs.toFixed(1)} ms
            </span>
            <code>{item.after.message ?? shown(item.after.output)}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

const shown = (output: unknown): string => (output === undefined ? '' : JSON.stringify(output).slice(0, 200));
