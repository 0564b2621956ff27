import type { RunSummary } from '../../api/types';
import { words as say } from '../../texts/run';
import { sparkWords } from './history';
import css from './Sparkline.module.css';
import { finalStatus } from '../../agent/runStatus';

const height = 32;
const step = 8;
const wide = 6;

/** Draws runs as bars, oldest first. The height is the duration; bars are filled for success and hollow for failure. */
export function Sparkline({ runs, onOpen }: { runs: RunSummary[]; onOpen: (runId: string) => void }) {
  const longest = Math.max(1, ...runs.map((run) => run.totalMs));
  const bars = [...runs].reverse();
  return (
    <svg className={css.spark} role="img" aria-label={sparkWords(runs)} width={bars.length * step} height={height}>
      {bars.map((run, i) => {
        const tall = Math.max(3, Math.round((run.totalMs / longest) * (height - 2)));
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
  );
}
