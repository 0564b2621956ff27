import type { Metrics, RunAnswer } from '../../api/types';
import { runFacts as say } from '../../texts/run';
import { bytes, milliseconds } from '../../texts/format';
import { Provenance } from './Provenance';
import css from './ResultTab.module.css';

/** Where the time went, and the proof of what ran. */
export function RunFacts({ answer, memoryLimit }: { answer: RunAnswer; memoryLimit?: number | undefined }) {
  const { metrics, exitCode } = answer;
  return (
    <>
      <h2>{say.time}</h2>
      <TimeBar metrics={metrics} />
      <dl className={css.facts}>
        <Part look="queued" label={say.queue} ms={metrics.queuedMs} />
        <Part look="start" label={say.start} ms={metrics.startMs} />
        <Part look="run" label={say.run} ms={metrics.runMs} />
        <dt>{say.total}</dt>
        <dd>{milliseconds(metrics.totalMs)}</dd>
        <dt>{say.cpu}</dt>
        <dd>{milliseconds(metrics.cpuMs)}</dd>
        {metrics.peakMemoryBytes > 0 && (
          <>
            <dt>{say.peakMemory}</dt>
            <dd>
              {memoryLimit === undefined
                ? bytes(metrics.peakMemoryBytes)
                : say.ofLimit(metrics.peakMemoryBytes, memoryLimit)}
            </dd>
          </>
        )}
        {typeof exitCode === 'number' && (
          <>
            <dt>{say.exitCode}</dt>
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
