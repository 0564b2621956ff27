import type { Metrics, Route, RunAnswer } from '../../api/types';
import { runFacts as say } from '../../texts/run';
import { bytes, milliseconds } from '../../texts/format';
import { Provenance } from './Provenance';
import css from './ResultTab.module.css';
import { timesOf } from './times';

/** Shows the timing and the provenance of a run. */
export function RunFacts({ answer, memoryLimit }: { answer: RunAnswer; memoryLimit?: number | undefined }) {
  const { metrics, exitCode } = answer;
  const times = timesOf(metrics);
  return (
    <>
      <h2>{say.time}</h2>
      <TimeBar metrics={metrics} />
      <dl className={css.facts}>
        <Part look="queued" label={say.queue} time={times.queued} />
        <Part look="start" label={say.start} time={times.start} />
        <Part look="run" label={say.run} time={times.run} />
        {times.hasOther && <Part look="rest" label={say.other} about={say.otherAbout} time={times.other} />}
        <dt>{say.total}</dt>
        <dd>{times.total}</dd>
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
      <Place answer={answer} />
      <Provenance key={answer.runId} answer={answer} />
    </>
  );
}

/** Shows which runtime executed the program, and why. */
function Place({ answer: { route, provenance } }: { answer: RunAnswer }) {
  if (route === undefined || route.rule === '') return null;
  const runtime = <code>{provenance.runtime}</code>;
  const local = whyLocal(route);
  const named = route.rule === 'explicit';
  return (
    <section aria-label={say.place} className={css.place}>
      <h2>{say.place}</h2>
      <p className={css.why}>
        {local === undefined ? say.ranIn(runtime, named ? say.named : route.reason) : say.ranHere(runtime, local)}
      </p>
      {local === undefined && !named && <p className={css.why}>{say.ruleOfRouter(<code>{route.rule}</code>)}</p>}
    </section>
  );
}

/** Why this server chose the runtime, if no rule with a condition matched. Most programs have no such reason. */
function whyLocal({ rule, reason }: Route): string | undefined {
  return rule === 'local' && reason.startsWith(say.noEarlierRule)
    ? reason.slice(say.noEarlierRule.length).trim()
    : undefined;
}

type PartLook = 'queued' | 'start' | 'run' | 'rest';

function Part({ look, label, about, time }: { look: PartLook; label: string; about?: string; time: string }) {
  return (
    <>
      <dt title={about}>
        <span className={`${css.swatch} ${css[look]}`} />
        {label}
      </dt>
      <dd>{time}</dd>
    </>
  );
}

/** The bar is hidden from screen readers, because the list below contains the same parts. */
function TimeBar({ metrics: { queuedMs, startMs, runMs, totalMs } }: { metrics: Metrics }) {
  const parts = { queued: queuedMs, start: startMs, run: runMs, rest: 0 };
  parts.rest = Math.max(0, totalMs - queuedMs - startMs - runMs);
  // The values are in microseconds. If the growth factors add up to less than 1, flexbox leaves a part of the bar
  // empty.
  return (
    <div className={css.time} aria-hidden>
      {(['queued', 'start', 'run', 'rest'] as const).map((part) => (
        <span key={part} className={css[part]} style={{ flexGrow: parts[part] * 1000 }} />
      ))}
    </div>
  );
}
