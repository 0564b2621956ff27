import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Failure, Problem } from '../editor/codeEditor';
import type { PythonView } from '../editor/python';
import { showRight } from '../state/layout';
import { useOfferPlaces } from '../state/editorPlaces';
import { useCommand } from '../state/commands';
import { offerTour, startTour } from '../state/tour';
import type { Tab } from '../state/urlState';
import { Workbench } from '../frame/Workbench';
import { ConfigPanel } from '../features/config/ConfigPanel';
import { EditorPane } from './EditorPane';
import { Problems } from '../features/files/Problems';
import { tabOf } from '../agent/schemaPaths';
import { severitiesOf, type Severity } from '../features/files/tree';
import { FilesPanel } from '../features/files/FilesPanel';
import { useTabs } from '../agent/useTabs';
import { RunPanel } from '../features/run/RunPanel';
import type { RunState } from '../features/run/controller';
import { useRun } from '../features/run/useRun';
import { AgentDialogs } from './AgentDialogs';
import { AgentHeader } from './AgentHeader';
import { AgentsPanel } from '../frame/AgentsPanel';
import { AgentStatus } from './AgentStatus';
import { ConflictBar } from './ConflictBar';
import { FollowCode } from './FollowCode';
import { Tour } from './Tour';
import { useAgentCommands } from './useAgentCommands';
import { useOpenAgent } from '../agent/openAgent';

/** Shows the screen of an open agent. */
export function AgentWorkbench() {
  const agent = useOpenAgent();
  const tabs = useTabs(agent);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [python, setPython] = useState<PythonView>();
  const run = useRun(agent, tabs);
  useAgentCommands(agent, run, tabs);

  const { session } = agent;
  const writes = session !== undefined;
  useEffect(() => {
    if (writes) offerTour();
  }, [writes]);
  useCommand('help.tour', writes ? startTour : undefined);

  const { open } = tabs;
  const { paths } = agent;
  const places = useMemo(
    () => paths.map((path) => ({ label: path, open: () => open({ kind: 'file', path }) })),
    [paths, open],
  );
  useOfferPlaces(places);

  const goTo = useCallback((path: string, line: number) => open({ kind: 'file', path }, line), [open]);
  const goToColumn = useCallback(
    (path: string, line: number, column: number) => open(tabOf(path), line, column),
    [open],
  );
  const { name } = agent;
  const { focused, renamed, showPanel, splits } = tabs;
  const { active } = focused;
  const { busy, stop, view } = run;
  const fixed = view.run.kind === 'starting' || view.stopping;

  // Output changes the run in every frame. These elements do not depend on the output, so they render only when their
  // own data changes.
  const severities = useSeverities(problems);
  const failure = useMemo(() => failureOf(view.run), [view.run]);
  const bar = useMemo(() => <AgentHeader busy={busy} fixed={fixed} onStop={stop} />, [busy, fixed, stop]);
  const left = useMemo(
    () => (
      <div style={{ display: 'flex', flexDirection: 'column', height: '100%' }}>
        <AgentsPanel current={name} />
        <FilesPanel
          current={active.kind === 'file' ? active.path : undefined}
          severities={severities}
          onOpen={(path, line) => open({ kind: 'file', path }, line)}
          onOpenBeside={splits ? (path) => open({ kind: 'file', path }, undefined, undefined, 'second') : undefined}
          onRenamed={renamed}
        />
      </div>
    ),
    [name, active, severities, open, renamed, splits],
  );
  const main = useMemo(
    () => (
      <div style={{ display: 'flex', flexDirection: 'column', height: '100%' }}>
        <ConflictBar />
        <EditorPane tabs={tabs} failure={failure} onProblems={setProblems} onPython={setPython} />
        <Problems problems={problems} onGoTo={goToColumn} />
      </div>
    ),
    [tabs, goToColumn, problems, failure],
  );
  const right = useMemo(
    () => <ConfigPanel onSchema={(which) => open({ kind: 'schema', which })} active={schemaOf(active)} />,
    [active, open],
  );
  const status = useMemo(
    () => <AgentStatus tab={active} problems={problems} python={python} />,
    [active, problems, python],
  );
  return (
    <>
      <Workbench
        bar={bar}
        left={left}
        main={main}
        bottom={
          <RunPanel
            run={run}
            deprecated={agent.deprecated}
            panel={tabs.panel}
            onPanel={showPanel}
            onGoTo={goTo}
            onRaise={focusLimit}
          />
        }
        right={right}
        status={status}
      />
      <AgentDialogs editor={{ problems, onGoTo: goToColumn }} />
      <FollowCode />
      <Tour />
    </>
  );
}

/** The value changes only if a severity changes, although the editor reports its problems after each key. */
function useSeverities(problems: Problem[]): ReadonlyMap<string, Severity> {
  const now = severitiesOf(problems);
  const text = JSON.stringify([...now]);
  return useMemo(() => new Map(JSON.parse(text) as [string, Severity][]), [text]);
}

/** Returns the line at which the run on the screen failed. */
function failureOf(run: RunState): Failure | undefined {
  const error = run.kind === 'done' ? run.answer.error : undefined;
  if (error?.file === undefined || error.line === undefined) return undefined;
  return { path: error.file, line: error.line, message: error.message };
}

const schemaOf = (tab: Tab): 'input' | 'output' | undefined => (tab.kind === 'schema' ? tab.which : undefined);

/** Opens the limits, and focuses and selects the field of one limit. So typing replaces the number. */
function focusLimit(limit: string): void {
  showRight('limits');
  setTimeout(() => {
    const field = document.getElementById(`limit-${limit}`);
    field?.focus();
    if (field instanceof HTMLInputElement) field.select();
  }, 50);
}
