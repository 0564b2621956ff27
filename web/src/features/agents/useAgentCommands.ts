import { useLocation } from 'wouter';
import { useFacts } from '../../api/queries';
import { useRights } from '../../api/rights';
import { useCommand } from '../../app/commands';
import { copyText } from '../../app/clipboard';
import { showDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { versionsUrl } from '../../app/urlState';
import { useAgentCommands as say } from '../../texts/agents';
import { sameTab, type Tabs } from '../files/useTabs';
import type { RunHandle } from '../run/useRun';
import { showExport } from './AgentHeader';
import { exportArchive } from './agentMenu';
import type { OpenAgent } from './openAgent';
import { useCutOff } from './useCutOff';

type Life = Pick<OpenAgent, 'id' | 'name' | 'latestVersion'>;

/** What can be done with an agent as a whole; listing it needs to know whether it is listed. */
export function useLifeCommands({ id, name, latestVersion }: Life, listed: boolean | undefined): void {
  const [, navigate] = useLocation();
  const published = latestVersion !== '';
  const writes = useRights().may('write');
  useCommand('agent.versions', () => navigate(versionsUrl(name)));
  useCommand(
    'agent.compare',
    published ? () => showDialog({ kind: 'compare', from: latestVersion, to: 'draft' }) : undefined,
  );
  useCommand(
    'agent.discard',
    writes && published ? () => showDialog({ kind: 'redraft', from: latestVersion }) : undefined,
  );
  useCommand('agent.rename', writes ? () => showDialog({ kind: 'rename', id, name, published }) : undefined);
  useCommand('agent.copy', writes ? () => showDialog({ kind: 'duplicate', id, name }) : undefined);
  useCommand('agent.archive', () => exportArchive(name));
  useCommand('agent.delete', writes ? () => showDialog({ kind: 'delete', id, name }) : undefined);
  useCommand(
    'agent.list',
    writes && published && listed !== undefined ? () => showDialog({ kind: 'list', name, listed }) : undefined,
  );
}

/** What can be done with the agent in the editor, for keys and palette. */
export function useAgentCommands(agent: OpenAgent, run: RunHandle, tabs: Tabs): void {
  const { session, name, version, latestVersion } = agent;
  const step = (by: number) => (): void => {
    const at = tabs.all.findIndex((t) => sameTab(t, tabs.active));
    const next = tabs.all[(at + by + tabs.all.length) % tabs.all.length];
    if (next) tabs.open(next);
  };
  useLifeCommands(agent, useFacts(name).data?.listed);
  const reached = useCutOff() === undefined;
  const runs = useRights().may('run') && reached;
  useCommand('run.start', run.busy || !runs ? undefined : run.start);
  useCommand('run.again', run.busy || !runs ? undefined : run.again);
  useCommand('run.stop', run.busy ? run.stop : undefined);
  useCommand('agent.save', session && (() => void session.flush()));
  useCommand('agent.publish', session && reached ? () => showDialog({ kind: 'publish' }) : undefined);
  useCommand('agent.export', () => showExport(agent));
  useCommand('view.editor', () => showDialog({ kind: 'editor' }));
  useCommand('tab.next', step(1));
  useCommand('tab.previous', step(-1));
  useCommand('tab.close', () => tabs.close(tabs.active));
  const pinned = version ?? (latestVersion === '' ? undefined : latestVersion);
  useCommand('agent.reference', pinned === undefined ? undefined : () => void copyReference(`${name}@${pinned}`));
}

export async function copyReference(reference: string | Promise<string>): Promise<void> {
  if (await copyText(reference)) notify('done', say.copied(await reference));
}
