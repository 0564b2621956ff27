import { Ellipsis } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { explain } from '../../api/http';
import type { Json } from '../../api/json';
import { useRuns } from '../../api/queries';
import type { RunSummary } from '../../api/types';
import { getRun } from '../../api/verbs';
import { historyTab as say, testsTab } from '../../texts/run';
import { runActions } from '../../texts/runs';
import { showDialog } from '../../state/dialogs';
import { ago, milliseconds } from '../../texts/format';
import { notify } from '../../state/notices';
import { RunMark } from '../../agent/RunMark';
import { finalStatus } from '../../agent/runStatus';
import { Button, IconButton } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { Empty } from '../../ui/Empty';
import { Menu } from '../../ui/Menu';
import { Retry } from '../../ui/Retry';
import { Waiting } from '../../ui/Waiting';
import { useOpenAgent } from '../../agent/openAgent';
import { hasEnded, narrow, type HistoryFilter, type Kept } from './history';
import css from './HistoryTab.module.css';
import { Sparkline } from './Sparkline';
import { StartButton } from './StartButton';
import type { RunHandle } from './useRun';

const CompareRuns = lazy(() => import('./CompareRuns').then((m) => ({ default: m.CompareRuns })));

/** Lists the last runs of this agent. The user can open a run, use its input again, and compare two runs. */
export function HistoryTab({ run }: { run: RunHandle }) {
  const { name, session } = useOpenAgent();
  const runs = useRuns(name);
  const [now] = useState(() => Date.now());
  const [filter, setFilter] = useState<HistoryFilter>({ kept: 'all', version: undefined });
  const [chosen, setChosen] = useState<string[]>([]);
  const [comparing, setComparing] = useState(false);

  const take = async (runId: string, then: (input: Json) => void): Promise<void> => {
    try {
      const { input, withheld } = await getRun(runId);
      if (withheld) notify('failed', runActions.withheld);
      else then(input);
    } catch (error) {
      notify('failed', say.inputNotFetched(explain(error)));
    }
  };
  // If the user selects a third run, it replaces the first.
  const choose = (runId: string, on: boolean): void =>
    setChosen((now) => (on ? [...now, runId].slice(-2) : now.filter((id) => id !== runId)));

  if (runs.isPending) return <Waiting shape="table" what={say.theRuns} retry />;
  // If a refresh fails, the shown content stays.
  if (!runs.data)
    return <Empty actions={<Retry onRetry={() => void runs.refetch()} />}>{say.notLoaded(runs.error.message)}</Empty>;
  if (runs.data.length === 0) return <Empty actions={<StartButton />}>{say.noRunsYet}</Empty>;
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
          aria-label={say.whichRuns}
          value={filter.kept}
          onChange={(e) => setFilter({ ...filter, kept: e.target.value as Kept })}
        >
          <option value="all">{say.allRuns}</option>
          <option value="succeeded">{say.succeeded}</option>
          <option value="other">{say.failed}</option>
        </select>
        {versions.length > 1 && (
          <select
            aria-label={say.ofWhichVersion}
            value={filter.version ?? 'all'}
            onChange={(e) => setFilter({ ...filter, version: e.target.value === 'all' ? undefined : e.target.value })}
          >
            <option value="all">{say.allVersions}</option>
            {versions.map((v) => (
              <option key={v} value={v}>
                {v}
              </option>
            ))}
          </select>
        )}
        <Button disabled={!older || !newer} onClick={() => setComparing(true)}>
          {say.compareTwo}
        </Button>
      </div>
      {shown.length === 0 ? (
        <Empty>{say.none}</Empty>
      ) : (
        <Runs
          runs={shown}
          chosen={chosen}
          now={now}
          onChoose={choose}
          onOpen={run.open}
          onKeep={session && ((runId) => showDialog({ kind: 'keepTest', runId }))}
          onRerun={run.busy ? undefined : (id) => void take(id, run.startWith)}
          onUse={(id) =>
            void take(id, (value) => {
              const before = run.input.value;
              run.changeInput({ do: 'replace', value });
              run.showInput();
              notify('done', say.inputReplaced, {
                label: say.undo,
                run: () => run.changeInput({ do: 'replace', value: before }),
              });
            })
          }
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
  onKeep: ((runId: string) => void) | undefined;
  onRerun: ((runId: string) => void) | undefined;
  onUse: (runId: string) => void;
}

/** Shows the menu with the actions of a run. Without `run`, an action is not possible now. */
function actions(r: RunSummary, on: RunsProps): { label: string; run: (() => void) | undefined }[] {
  const { onRerun, onKeep } = on;
  return [
    { label: say.rerun, run: onRerun && (() => onRerun(r.runId)) },
    { label: say.useInput, run: () => on.onUse(r.runId) },
    ...(onKeep && hasEnded(r) ? [{ label: testsTab.keep, run: () => onKeep(r.runId) }] : []),
  ];
}

/** Whether a click on a row opens the row's run. A click on a control in the row has another effect. */
const opensRun = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('button, input, [role="menu"]') === null;

function Runs(props: RunsProps) {
  const { runs, chosen, now, onChoose, onOpen } = props;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">{say.toCompare}</span>
          </th>
          <th scope="col">{say.state}</th>
          <th scope="col">{say.version}</th>
          <th scope="col" className={css.input}>
            {say.input}
          </th>
          <th scope="col" className={css.wide}>
            {say.by}
          </th>
          <th scope="col">{say.time}</th>
          <th scope="col">{say.when}</th>
          <th scope="col">
            <span className="visually-hidden">{say.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((r) => {
          const when = ago(r.createdAt, now);
          return (
            // With the keyboard, the user opens the run by the button in the row.
            <tr key={r.runId} onClick={(e) => opensRun(e.target) && onOpen(r.runId)}>
              <td>
                <input
                  type="checkbox"
                  aria-label={say.compareTheRun(when, r.totalMs)}
                  checked={chosen.includes(r.runId)}
                  onChange={(e) => onChoose(r.runId, e.target.checked)}
                />
              </td>
              <td>
                <button
                  type="button"
                  className={css.open}
                  aria-label={say.show(finalStatus(r).text, when)}
                  onClick={() => onOpen(r.runId)}
                >
                  <RunMark run={r} />
                </button>
                <small className={css.narrow}>
                  <span>{r.version}</span> <code>{r.inputPreview}</code>
                </small>
              </td>
              <td>{r.version}</td>
              <td className={css.input}>
                <code title={r.inputPreview}>{r.inputPreview}</code>
              </td>
              <td className={classes(css.wide, css.quiet)}>{r.by.name}</td>
              <td>{hasEnded(r) && milliseconds(r.totalMs)}</td>
              <td className={css.quiet}>{when}</td>
              <td>
                <Menu
                  trigger={
                    <IconButton small label={say.actionsOf(when)}>
                      <Ellipsis size={16} aria-hidden />
                    </IconButton>
                  }
                  entries={() =>
                    actions(r, props).map(({ label, run }) => ({
                      kind: 'item',
                      label,
                      later: true,
                      why: run ? undefined : say.runIsActive,
                      run: () => run?.(),
                    }))
                  }
                />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
