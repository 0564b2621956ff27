import { Copy, Pencil, RotateCcw } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { curlLine, runLine } from '../../agent/callCommands';
import { rememberInput } from '../../agent/rememberedInput';
import { basePath } from '../../api/base';
import { stringifyJson } from '../../api/json';
import { useRights } from '../../api/rights';
import type { Run, RunSummary } from '../../api/types';
import { execute, listRuns } from '../../api/verbs';
import { copyText } from '../../state/clipboard';
import { notify } from '../../state/notices';
import { agentUrl, pinnedOf, runUrl, writeUrl } from '../../state/urlState';
import { runActions as say } from '../../texts/runs';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import { Menu, type MenuEntry } from '../../ui/Menu';
import { useTask } from '../../ui/useTask';
import css from './RunPage.module.css';

const CompareRuns = lazy(() => import('./CompareRuns').then((m) => ({ default: m.CompareRuns })));

/**
 * Shows the actions for a run: repeat the run, change its input, compare it and copy it. If `first` is set, the button
 * for the repetition is the primary button.
 */
export function RunActions({ run, first }: { run: Run; first: boolean }) {
  const [, navigate] = useLocation();
  const { may, why } = useRights();
  const task = useTask();
  const [pair, setPair] = useState<[RunSummary, RunSummary]>();
  const { agent = '', version = '' } = run.provenance;
  const agentId = run.metadata.agentId;
  const again = (): void =>
    task.run(async () => {
      const { runId } = await execute(agent, version, run.input);
      navigate(runUrl(runId));
    });
  const change = (): void => {
    if (agentId !== undefined) rememberInput(agentId, stringifyJson(run.input, 2));
    navigate(agentUrl(agent, pinnedOf(version)) + writeUrl({ panel: 'input' }));
  };
  const compare = (): void =>
    task.run(async () => {
      const runs = await listRuns(agent);
      const at = runs.findIndex(({ runId }) => runId === run.runId);
      const [newer, older] = at < 0 ? [] : [runs[at], runs[at + 1]];
      if (newer && older) setPair([older, newer]);
      else notify('failed', say.noEarlierRun);
    });
  if (agent === '') return <Copies run={run} />;
  return (
    <>
      <div className={css.actions}>
        <Button
          look={first ? 'primary' : 'plain'}
          disabled={!may('run') || task.busy || run.withheld}
          title={run.withheld ? say.withheld : may('run') ? undefined : why('run')}
          onClick={again}
        >
          <RotateCcw size={14} aria-hidden />
          {say.again}
        </Button>
        <Button disabled={run.withheld} title={run.withheld ? say.withheld : undefined} onClick={change}>
          <Pencil size={14} aria-hidden />
          {say.withChanges}
        </Button>
        <Button onClick={compare}>{say.compareWithPrevious}</Button>
        <Copies run={run} />
      </div>
      <Fault message={task.fault === undefined ? undefined : say.failed(task.fault)} />
      {pair && (
        <Suspense>
          <CompareRuns older={pair[0]} newer={pair[1]} onClose={() => setPair(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function Copies({ run }: { run: Run }) {
  const { agent = '', version = '' } = run.provenance;
  const item = (label: string, text: () => string): MenuEntry => ({
    kind: 'item',
    label,
    run: () => void copyText(text()).then((done) => done && notify('done', say.copied)),
  });
  const { origin } = window.location;
  return (
    <Menu
      trigger={
        <Button>
          <Copy size={14} aria-hidden />
          {say.copyAs}
        </Button>
      }
      entries={[
        item(say.link, () => `${origin}${basePath}/studio${runUrl(run.runId)}`),
        ...(agent === '' || run.withheld
          ? []
          : [
              item(say.curl, () => curlLine(origin + basePath, agent, version, run.input)),
              ...(pinnedOf(version) === undefined ? [] : [item(say.cli, () => runLine(agent, version, run.input))]),
            ]),
        ...(run.withheld ? [] : [item(say.input, () => stringifyJson(run.input, 2))]),
        item(say.id, () => run.runId),
      ]}
    />
  );
}
