import { Ban, CircleCheck, CircleX, Clock, LoaderCircle, Maximize2, Minimize2, TriangleAlert } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { useKeys } from '../../state/bindings';
import { isMac, runCommand } from '../../state/commands';
import { showKeys } from '../../state/hotkeys';
import { useLayout } from '../../state/layout';
import { agentUrl, readRef, type Panel } from '../../state/urlState';
import { Console } from '../../console/Console';
import type { Ring } from '../../console/ring';
import { runPanel as say } from '../../texts/run';
import { IconButton } from '../../ui/Button';
import type { OpenAgent } from '../../agent/openAgent';
import { HistoryTab } from './HistoryTab';
import { InputTab } from './InputTab';
import { ResultTab } from './ResultTab';
import css from './RunPanel.module.css';
import { TestsTab } from './TestsTab';
import { useTests } from './useTests';
import type { RunHandle } from './useRun';
import type { Look } from '../../ui/StateMark';
import { stateText } from './runState';

interface Props {
  run: RunHandle;
  deprecated: OpenAgent['deprecated'];
  panel: Panel;
  onPanel: (panel: Panel) => void;
  onGoTo: (path: string, line: number) => void;
  onRaise: (limit: string) => void;
}

const panels: Panel[] = ['input', 'console', 'result', 'history', 'tests'];

export function RunPanel({ run, deprecated, panel, onPanel, onGoTo, onRaise }: Props) {
  const tests = useTests();
  return (
    <Tabs.Root className={css.panel} value={panel} onValueChange={(value) => onPanel(value as Panel)}>
      <div className={css.head} onDoubleClick={(e) => e.target === e.currentTarget && runCommand('view.maximise')}>
        <Tabs.List className={css.tabs} aria-label={say.run}>
          {panels.map((value) => (
            <Tabs.Trigger key={value} value={value}>
              {say.panels[value]}
              {value === 'console' && <Unread ring={run.controller.ring} shown={panel === 'console'} />}
              {value === 'input' && run.problems.length > 0 && (
                <span className={css.dot} data-look="err" title={say.notValid} />
              )}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <span className={css.grow} />
        <State run={run} />
        <span className={css.maximise}>
          <Maximise />
        </span>
      </div>
      {run.busy && <Bar run={run} />}
      {deprecated && <Deprecated {...deprecated} />}
      <Tabs.Content className={css.body} value="input" tabIndex={-1}>
        <InputTab run={run} />
      </Tabs.Content>
      <Tabs.Content className={css.body} value="console" tabIndex={-1}>
        <Console ring={run.controller.ring} running={run.busy} onClear={() => run.controller.ring.clear()} />
      </Tabs.Content>
      <Tabs.Content className={css.body} value="result" tabIndex={-1}>
        <ResultTab run={run} onGoTo={onGoTo} onRaise={onRaise} />
      </Tabs.Content>
      <Tabs.Content className={css.body} value="history" tabIndex={-1}>
        <HistoryTab run={run} />
      </Tabs.Content>
      <Tabs.Content className={css.body} value="tests" tabIndex={-1}>
        <TestsTab handle={tests} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** Shows the deprecation of the version on the screen. */
function Deprecated({ reason, successor }: { reason: string; successor: string }) {
  const { name, version } = readRef(successor);
  return (
    <p className={css.deprecated} role="note" aria-label={say.deprecated}>
      <TriangleAlert size={14} aria-hidden />
      <span>
        {reason === '' ? say.isDeprecated : say.isDeprecatedFor(reason)}
        {successor !== '' && <> {say.use(<Link href={agentUrl(name, version)}>{successor}</Link>)}</>}
      </span>
    </p>
  );
}

function State({ run }: { run: RunHandle }) {
  const { run: state, stream } = run.view;
  const elapsed = useElapsed(state.kind === 'running' ? state.since : undefined);
  const words = stateText(state, elapsed);
  return (
    <>
      {run.busy && stream === 'reconnecting' && <span className={css.stream}>{say.reconnecting}</span>}
      <span role="status" aria-label={say.runState} className={css.state} data-look={words?.look}>
        {words && <Mark look={words.look} spinning={run.busy} />}
        {words?.text}
      </span>
    </>
  );
}

function Mark({ look, spinning }: { look: Look; spinning: boolean }) {
  if (spinning) return <LoaderCircle size={14} aria-hidden />;
  if (look === 'ok') return <CircleCheck size={14} aria-hidden />;
  if (look === 'err') return <CircleX size={14} aria-hidden />;
  return look === 'warn' ? <Ban size={14} aria-hidden /> : <Clock size={14} aria-hidden />;
}

function Bar({ run }: { run: RunHandle }) {
  const { progress } = run.view;
  const known = progress !== undefined && progress.total > 0;
  const share = known ? Math.min(100, Math.max(0, (100 * progress.done) / progress.total)) : undefined;
  return (
    <div
      className={css.bar}
      role="progressbar"
      aria-label={say.progress}
      aria-valuenow={share === undefined ? undefined : Math.round(share)}
      data-known={known}
      style={{ '--done': `${share ?? 0}%` }}
    />
  );
}

function Maximise() {
  const { maximised } = useLayout();
  const keys = showKeys(useKeys('view.maximise'), isMac);
  return (
    <IconButton
      small
      label={maximised ? say.restore(keys) : say.maximise(keys)}
      onClick={() => runCommand('view.maximise')}
    >
      {maximised ? <Minimize2 size={14} aria-hidden /> : <Maximize2 size={14} aria-hidden />}
    </IconButton>
  );
}

function useElapsed(since: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (since === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [since]);
  return since === undefined ? 0 : Math.max(0, now - since);
}

/** Marks the console tab when the program prints something while another tab is open. */
function Unread({ ring, shown }: { ring: Ring; shown: boolean }) {
  const changes = useSyncExternalStore(ring.subscribe, ring.getChanges);
  const [seen, setSeen] = useState(changes);
  if (shown && seen !== changes) setSeen(changes);
  if (shown || changes === seen || ring.length === 0) return null;
  return <span className={css.dot} title={say.newOutput} />;
}
