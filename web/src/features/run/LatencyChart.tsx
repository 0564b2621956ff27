import { Fragment } from 'react';
import { useLocation } from 'wouter';
import { finalStatus } from '../../agent/runStatus';
import type { RunSummary } from '../../api/types';
import { runUrl } from '../../state/urlState';
import { milliseconds, moment } from '../../texts/format';
import { latencyChart as say } from '../../texts/runs';
import { hasEnded } from './history';
import { latencyOf } from './latency';
import css from './LatencyChart.module.css';

/** Draws the durations of runs over time. A click opens a run. The table below lists the same runs. */
export function LatencyChart({ runs }: { runs: RunSummary[] }) {
  const [, navigate] = useLocation();
  const found = latencyOf(runs.filter(hasEnded));
  if (!found) return null;
  const { points, ticks, medianMs, medianY, p95Ms, failed, from, to } = found;
  return (
    <figure className={css.figure}>
      <figcaption className={css.facts}>
        <Fact label={say.runs} value={String(points.length)} />
        <Fact label={say.failed} value={String(failed)} look={failed > 0 ? 'err' : undefined} />
        <Fact label={say.median} value={milliseconds(medianMs)} look="line" />
        <Fact label={say.p95} value={milliseconds(p95Ms)} />
      </figcaption>
      <div className={css.plot} role="img" aria-label={say.about(points.length, failed, medianMs, p95Ms)}>
        {ticks.map(({ ms, y }) => (
          <Fragment key={ms}>
            <span className={css.line} style={{ bottom: `${y}%` }} />
            <span className={css.tick} style={{ bottom: `${y}%` }}>
              {say.tick(ms)}
            </span>
          </Fragment>
        ))}
        <span className={css.median} style={{ bottom: `${medianY}%` }} />
        {points.map(({ run, x, y }) => (
          <span
            key={run.runId}
            className={css.dot}
            data-look={finalStatus(run).look}
            title={say.point(finalStatus(run).text, run.totalMs, moment(run.createdAt))}
            style={{ left: `${x}%`, bottom: `${y}%` }}
            onClick={() => navigate(runUrl(run.runId))}
          />
        ))}
      </div>
      <div className={css.times} aria-hidden>
        <span>{say.time(from, to, from)}</span>
        <span>{say.time(from, to, to)}</span>
      </div>
    </figure>
  );
}

function Fact({ label, value, look }: { label: string; value: string; look?: 'err' | 'line' | undefined }) {
  return (
    <span className={css.fact} data-look={look}>
      {label} <strong>{value}</strong>
    </span>
  );
}
