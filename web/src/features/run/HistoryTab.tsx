import { lazy, Suspense, useState } from 'react';
import { explain } from '../../api/http';
import { useRuns } from '../../api/queries';
import type { RunSummary } from '../../api/types';
import { getRun } from '../../api/verbs';
import { ago, milliseconds } from '../../texts/format';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Empty, Waiting } from '../../ui/Empty';
import { useOpenAgent } from '../agents/openAgent';
import { hasEnded, narrow, type HistoryFilter, type Kept } from './history';
import css from './HistoryTab.module.css';
import { Sparkline } from './Sparkline';
import { StartButton } from './StartButton';
import type { RunHandle } from './useRun';
import { finalWords } from './words';

const CompareRuns = lazy(() => import('./CompareRuns').then((m) => ({ default: m.CompareRuns })));

/** The last runs of this agent; each can be looked at again, its input used again, and two of them compared. */
export function HistoryTab({ run }: { run: RunHandle }) {
  const { name } = useOpenAgent();
  const runs = useRuns(name);
  const [now] = useState(() => Date.now());
  const [filter, setFilter] = useState<HistoryFilter>({ kept: 'all', version: undefined });
  const [chosen, setChosen] = useState<string[]>([]);
  const [comparing, setComparing] = useState(false);

  const reuse = async (runId: string): Promise<void> => {
    try {
      const { input } = await getRun(runId);
      run.changeInput({ do: 'replace', value: input });
      run.showInput();
    } catch (error) {
      notify('failed', `The input could not be fetched. ${explain(error)}`);
    }
  };
  // The third choice takes the place of the first.
  const choose = (runId: string, on: boolean): void =>
    setChosen((now) => (on ? [...now, runId].slice(-2) : now.filter((id) => id !== runId)));

  if (runs.isPending) return <Waiting what="the runs" onRetry={() => void runs.refetch()} />;
  if (runs.isError)
    return (
      <Empty actions={<Button onClick={() => void runs.refetch()}>Try again</Button>}>
        The runs could not be loaded. {runs.error.message}
      </Empty>
    );
  if (runs.data.length === 0)
    return (
      <Empty actions={<StartButton>Start</StartButton>}>No runs yet. Run the program to see how long it takes.</Empty>
    );
  const shown = narrow(runs.data, filter);
  const versions = [...new Set(runs.data.map((r) => r.version))];
  const [older, newer] = runs.data.filter((r) => chosen.includes(r.runId)).reverse();
  return (
    <div className={css.list}>
      <div className={css.bar}>
        <div className={css.spark}>
          <Sparkline runs={shown.filter(hasEnded)} onOpen={run.open} />
        </div>
        <select
          aria-label="Which runs"
          value={filter.kept}
          onChange={(e) => setFilter({ ...filter, kept: e.target.value as Kept })}
        >
          <option value="all">All runs</option>
          <option value="succeeded">Succeeded</option>
          <option value="other">Did not succeed</option>
        </select>
        {versions.length > 1 && (
          <select
            aria-label="Of which version"
            value={filter.version ?? 'all'}
            onChange={(e) => setFilter({ ...filter, version: e.target.value === 'all' ? undefined : e.target.value })}
          >
            <option value="all">All versions</option>
            {versions.map((v) => (
              <option key={v} value={v}>
                {v}
              </option>
            ))}
          </select>
        )}
        <Button disabled={!older || !newer} onClick={() => setComparing(true)}>
          Compare two
        </Button>
      </div>
      {shown.length === 0 ? (
        <Empty>No run is like that.</Empty>
      ) : (
        <Runs
          runs={shown}
          chosen={chosen}
          now={now}
          onChoose={choose}
          onOpen={run.open}
          onReuse={(id) => void reuse(id)}
        />
      )}
      {comparing && older && newer && (
        <Suspense>
          <CompareRuns older={older} newer={newer} onClose={() => setComparing(false)} />
        </Suspense>
      )}
    </div>
  );
}

interface RunsProps {
  runs: RunSummary[];
  chosen: string[];
  now: number;
  onChoose: (runId: string, on: boolean) => void;
  onOpen: (runId: string) => void;
  onReuse: (runId: string) => void;
}

function Runs({ runs, chosen, now, onChoose, onOpen, onReuse }: RunsProps) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">To compare</span>
          </th>
          <th scope="col">State</th>
          <th scope="col">Version</th>
          <th scope="col">Time</th>
          <th scope="col">When</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((r) => {
          const { word, look } = finalWords(r);
          const when = ago(r.createdAt, now);
          return (
            <tr key={r.runId}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Compare the run of ${when}, ${milliseconds(r.totalMs)}`}
                  checked={chosen.includes(r.runId)}
                  onChange={(e) => onChoose(r.runId, e.target.checked)}
                />
              </td>
              <td className={css[look]}>{word}</td>
              <td>{r.version}</td>
              <td>{milliseconds(r.totalMs)}</td>
              <td className={css.quiet}>{when}</td>
              <td>
                <Button look="link" onClick={() => onOpen(r.runId)}>
                  Show
                </Button>{' '}
                <Button look="link" onClick={() => onReuse(r.runId)}>
                  Re-run with this input
                </Button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
