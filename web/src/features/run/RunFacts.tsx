import type { Json } from '../../api/json';
import type { Metrics, RunAnswer } from '../../api/types';
import { bytes, milliseconds } from '../../app/format';
import { CopyButton } from '../../ui/CopyButton';
import css from './ResultTab.module.css';

/** Where the time went, and the proof of what ran. */
export function RunFacts({ answer, memoryLimit }: { answer: RunAnswer; memoryLimit?: number | undefined }) {
  const { metrics, provenance, exitCode, runId } = answer;
  return (
    <>
      <h2>Time</h2>
      <TimeBar metrics={metrics} />
      <dl className={css.facts}>
        <Part look="queued" label="Queue" ms={metrics.queuedMs} />
        <Part look="start" label="Start" ms={metrics.startMs} />
        <Part look="run" label="Run" ms={metrics.runMs} />
        <dt>Total</dt>
        <dd>{milliseconds(metrics.totalMs)}</dd>
        <dt>CPU</dt>
        <dd>{milliseconds(metrics.cpuMs)}</dd>
        {metrics.peakMemoryBytes > 0 && (
          <>
            <dt>Peak memory</dt>
            <dd>
              {bytes(metrics.peakMemoryBytes)}
              {memoryLimit !== undefined && ` of ${bytes(memoryLimit)}`}
            </dd>
          </>
        )}
        {typeof exitCode === 'number' && (
          <>
            <dt>Exit code</dt>
            <dd>{exitCode}</dd>
          </>
        )}
      </dl>
      <h2>Provenance</h2>
      <dl className={css.facts}>
        <Fact label="Run" value={runId} />
        <Fact label="Version" value={provenance['version']} plain />
        <Fact label="Runtime" value={provenance['runtime']} plain />
        <Fact label="Isolation" value={provenance['isolation']} plain />
        <Fact label="Code" value={provenance['codeDigest']} />
        <Fact label="Digest" value={provenance['digest']} />
        <Fact label="Input" value={provenance['inputsHash']} />
        <Fact label="Output" value={provenance['outputsHash']} />
      </dl>
    </>
  );
}

type PartLook = 'queued' | 'start' | 'run';

function Part({ look, label, ms }: { look: PartLook; label: string; ms: number }) {
  return (
    <>
      <dt>
        <span className={`${css.swatch} ${css[look]}`} />
        {label}
      </dt>
      <dd>{milliseconds(ms)}</dd>
    </>
  );
}

/** The parts are in the list below in words, so the bar is for the eye only. */
function TimeBar({ metrics: { queuedMs, startMs, runMs, totalMs } }: { metrics: Metrics }) {
  const rest = Math.max(0, totalMs - queuedMs - startMs - runMs);
  return (
    <div className={css.time} aria-hidden>
      <span className={css.queued} style={{ flexGrow: queuedMs }} />
      <span className={css.start} style={{ flexGrow: startMs }} />
      <span className={css.run} style={{ flexGrow: runMs }} />
      <span className={css.rest} style={{ flexGrow: rest }} />
    </div>
  );
}

function Fact({ label, value, plain }: { label: string; value: Json | undefined; plain?: boolean }) {
  if (typeof value !== 'string' || value === '') return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {plain ? (
          value
        ) : (
          <>
            <code title={value}>{short(value)}</code>
            <CopyButton label={`Copy ${label.toLowerCase()}`} text={value} />
          </>
        )}
      </dd>
    </>
  );
}

/** Enough of a hash to tell two apart; the whole is in the tooltip and in what Copy copies. */
function short(value: string): string {
  const hash = /^(sha256:)?([0-9a-f]{64})$/.exec(value)?.[2];
  return hash === undefined ? value : `${hash.slice(0, 12)}…`;
}
