import type { RunSummary } from '../../api/types';
import { history, words as say } from '../../texts/run';
import { sparkWords } from './history';
import css from './Sparkline.module.css';
import { finalStatus } from '../../agent/runStatus';

const height = 32;
const step = 8;
const wide = 6;

/**
 * Draws the durations of runs as bars, oldest first, with a legend. A bar is filled for a success and hollow for a
 * failure. If no run has ended, it draws nothing.
 */
export function Sparkline({ runs, onOpen }: { runs: RunSummary[]; onOpen: (runId: string) => void }) {
  if (runs.length === 0) return null;
  const longest = Math.max(...runs.map((run) => run.totalMs));
  const failed = runs.some((run) => finalStatus(run).look !== 'ok');
  const bars = [...runs].reverse();
  return (
    <figure className={css.figure}>
      <figcaption className={css.legend}>
        <span>{history.durations(runs.length)}</span>
        <span>
          {history.longest(longest)}
          {failed && (
            <>
              {' · '}
              <span className={css.sample} aria-hidden /> {history.notSucceeded}
            </>
          )}
        </span>
      </figcaption>
      <svg className={css.spark} role="img" aria-label={sparkWords(runs)} width={bars.length * step} height={height}>
        {bars.map((run, i) => {
          const tall = Math.max(3, Math.round((run.totalMs / Math.max(1, longest)) * (height - 2)));
          const { text, look } = finalStatus(run);
          return (
            <rect
              key={run.runId}
              className={css.bar}
              data-look={look}
              x={i * step + 1}
              y={height - tall - 0.5}
              width={wide}
              height={tall}
              rx={1}
              onClick={() => onOpen(run.runId)}
            >
              <title>{say.endedIn(text, run.totalMs)}</title>
            </rect>
          );
        })}
      </svg>
    </figure>
  );
}
