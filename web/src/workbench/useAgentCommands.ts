import { copyReference, useLifecycleCommands } from '../agent/useLifecycleCommands';
import { useCapabilities, useFacts } from '../api/queries';
import { useRights } from '../api/rights';
import type { ChangeTask } from '../api/types';
import { useCommand } from '../state/commands';
import { showDialog } from '../state/dialogs';
import { otherSide, sameTab, type Tabs } from '../agent/useTabs';
import type { RunHandle } from '../features/run/useRun';
import { showExport } from './AgentHeader';
import type { OpenAgent } from '../agent/openAgent';
import { useUnreachable } from '../agent/useUnreachable';

/** Registers the commands of the open agent for shortcuts and the palette. */
export function useAgentCommands(agent: OpenAgent, run: RunHandle, tabs: Tabs): void {
  const { session, name, version, latestVersion } = agent;
  const { all, active, side } = tabs.focused;
  const step = (by: number) => (): void => {
    const at = all.findIndex((t) => sameTab(t, active));
    const next = all[(at + by + all.length) % all.length];
    if (next) tabs.open(next);
  };
  const model = useCapabilities().data?.languageModel !== undefined && session !== undefined;
  useLifecycleCommands(agent, useFacts(name).data?.listed);
  const reached = useUnreachable() === undefined;
  const runs = useRights().may('run') && reached;
  useCommand('run.start', run.busy || !runs ? undefined : run.start);
  useCommand('run.again', run.busy || !runs ? undefined : run.again);
  useCommand('run.stop', run.busy ? run.stop : undefined);
  useCommand('agent.save', session && (() => void session.flush()));
  useCommand('agent.publish', session && reached ? () => showDialog({ kind: 'publish' }) : undefined);
  const asks = model && reached;
  const change = (task: ChangeTask) => (asks && runs ? () => showDialog({ kind: 'change', task }) : undefined);
  useCommand('assist.change', change('change'));
  useCommand('assist.tests', change('tests'));
  useCommand('assist.document', change('document'));
  useCommand('assist.schemas', change('schemas'));
  useCommand('assist.explain', asks ? () => showDialog({ kind: 'opinion', about: 'explain' }) : undefined);
  useCommand('assist.review', asks ? () => showDialog({ kind: 'opinion', about: 'review' }) : undefined);
  useCommand('agent.export', () => showExport(agent));
  useCommand('agent.connect', () => showDialog({ kind: 'connect' }));
  useCommand('help.reference', () => showDialog({ kind: 'reference' }));
  useCommand('view.editor', () => showDialog({ kind: 'editor' }));
  useCommand('tab.next', step(1));
  useCommand('tab.previous', step(-1));
  useCommand('tab.close', () => tabs.close(active, side));
  useCommand('view.split', tabs.splits ? () => tabs.open(active, undefined, undefined, otherSide(side)) : undefined);
  useCommand('view.join', tabs.groups.length > 1 ? tabs.join : undefined);
  const pinned = version ?? (latestVersion === '' ? undefined : latestVersion);
  useCommand('agent.reference', pinned === undefined ? undefined : () => void copyReference(`${name}@${pinned}`));
}
