import type { ReplayItem, ReplayReport } from '../../api/types';
import { replay } from '../../api/verbs';
import { milliseconds } from '../../texts/format';
import { replaySection as say } from '../../texts/publish';
import { Button } from '../../ui/Button';
import { Few } from '../../ui/Few';
import { Fault } from '../../ui/Fault';
import { Check, Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import css from './ReplaySection.module.css';

const words: Record<ReplayItem['verdict'], string> = {
  same: say.sameOutput,
  changed: say.anotherOutput,
  fails: say.failsNow,
  refused: say.inputRefusedNow,
  fixed: say.worksNow,
};

const counts = [5, 20, 50, 100];

interface Props {
  name: string;
  latestVersion: string;
  report: ReplayReport | undefined;
  onReport: (report: ReplayReport | undefined) => void;
  count: number;
  onCount: (count: number) => void;
  /** Whether a replay is required for publishing. */
  gate: boolean;
  onGate: (gate: boolean) => void;
  /** Saves the draft first, because the server runs the saved draft. */
  flush: () => Promise<boolean>;
  /** Performs an action on the draft that the user sees. */
  ofDraft: <T>(work: (revision?: number) => Promise<T>) => Promise<T>;
}

/** Runs the draft with recorded inputs of the latest version, and compares the outputs. */
export function ReplaySection(props: Props) {
  const { name, latestVersion, report, onReport, count, onCount, gate, onGate, flush, ofDraft } = props;
  const task = useTask();
  const go = (): void =>
    task.run(async () => {
      onReport(undefined);
      if (!(await flush())) throw new Error(say.theDraftIsNotSaved);
      onReport(await ofDraft((revision) => replay(name, count, revision)));
    });
  return (
    <section className={css.section} aria-label={say.replay}>
      <h3>{say.replay}</h3>
      <p className={css.quiet}>{say.about(latestVersion)}</p>
      <div className={css.bar}>
        <Field label={say.recordedInputs} hideLabel>
          {(control) => (
            <select {...control} value={count} onChange={(e) => onCount(Number(e.target.value))}>
              {counts.map((n) => (
                <option key={n} value={n}>
                  {say.lastInputs(n)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Button disabled={task.busy} onClick={go}>
          {task.busy ? say.replaying : say.replay}
        </Button>
      </div>
      <Fault message={task.fault} />
      {report && <Findings report={report} />}
      <Check label={say.publishOnlyIfThey} hint={say.publishOnlyIfTheyHint} checked={gate} onChange={onGate} />
    </section>
  );
}

function Findings({ report }: { report: ReplayReport }) {
  const noticed = report.items.filter((item) => item.verdict !== 'same' || item.slower);
  if (report.items.length === 0) return <p role="status">{say.none(report.version)}</p>;
  return (
    <>
      <p role="status">
        {noticed.length === 0
          ? say.same(report.items.length, report.version)
          : say.differ(noticed.length, report.items.length)}
      </p>
      <Few items={noticed} most={4}>
        {(shown) => (
          <ul className={css.list} aria-label={say.differences} hidden={noticed.length === 0}>
            {shown.map((item) => (
              <Finding key={item.before.runId} item={item} from={report.version} />
            ))}
          </ul>
        )}
      </Few>
    </>
  );
}

function Finding({ item: { verdict, slower, before, after }, from }: { item: ReplayItem; from: string }) {
  return (
    <li data-verdict={verdict}>
      <strong>{slower ? say.slower(words[verdict]) : words[verdict]}</strong>
      {verdict !== 'refused' && (
        <span>
          {milliseconds(before.runMs)} → {milliseconds(after.runMs)}
        </span>
      )}
      {verdict !== 'same' && (
        <dl>
          <dt>{from}</dt>
          <dd>{before.message ?? shown(before.output)}</dd>
          <dt>{say.draft}</dt>
          <dd>{after.message ?? shown(after.output)}</dd>
        </dl>
      )}
    </li>
  );
}

function shown(output: unknown): string {
  if (output === undefined) return say.tooLargeToShow;
  const text = JSON.stringify(output);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
