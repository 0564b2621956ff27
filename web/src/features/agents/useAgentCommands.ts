import { useCommand } from '../../app/commands';
import { copyText } from '../../app/clipboard';
import { showDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { sameTab, type Tabs } from '../files/useTabs';
import type { RunHandle } from '../run/useRun';
import { showExport } from './AgentHeader';
import type { OpenAgent } from './openAgent';

/** What can be done with the open agent, for keys and palette. */
export function useAgentCommands(agent: OpenAgent, run: RunHandle, tabs: Tabs): void {
  const { session, name, version, latestVersion } = agent;
  const step = (by: number) => (): void => {
    const at = tabs.all.findIndex((t) => sameTab(t, tabs.active));
    const next = tabs.all[(at + by + tabs.all.length) % tabs.all.length];
    if (next) tabs.open(next);
  };
  useCommand('run.start', run.busy ? undefined : run.start);
  useCommand('run.stop', run.busy ? run.stop : undefined);
  useCommand('agent.save', session && (() => void session.flush()));
  useCommand('agent.publish', session && (() => showDialog({ kind: 'publish' })));
  useCommand('agent.export', () => showExport(agent));
  useCommand('tab.next', step(1));
  useCommand('tab.previous', step(-1));
  useCommand('tab.close', () => tabs.close(tabs.active));
  const pinned = version ?? (latestVersion === '' ? undefined : latestVersion);
  useCommand('agent.reference', pinned === undefined ? undefined : () => void copyReference(`${name}@${pinned}`));
}

export async function copyReference(reference: string): Promise<void> {
  if (await copyText(reference)) notify('done', `Copied ${reference}`);
}
