import type { Metrics, RunAnswer } from '../../api/types';
import { bytes, milliseconds } from '../../texts/format';
import { Provenance } from './Provenance';
import css from './ResultTab.module.css';

/** Where the time went, and the proof of what ran. */
export function RunFacts({ answer, memoryLimit }: { answer: RunAnswer; memoryLimit?: number | undefined }) {
  const { metrics, exitCode } = answer;
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
      <Provenance key={answer.runId} answer={answer} />
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
