import { useLocation } from 'wouter';
import { useRights } from '../api/rights';
import { copyText } from '../state/clipboard';
import { useCommand } from '../state/commands';
import { showDialog } from '../state/dialogs';
import { notify } from '../state/notices';
import { versionsUrl } from '../state/urlState';
import { useAgentCommands as say } from '../texts/agents';
import { exportArchive } from './agentMenu';
import type { OpenAgent } from './openAgent';

type Identity = Pick<OpenAgent, 'id' | 'name' | 'latestVersion'>;

/** Registers the commands for a whole agent. `listed` is undefined until the Studio has loaded it. */
export function useLifecycleCommands({ id, name, latestVersion }: Identity, listed: boolean | undefined): void {
  const [, navigate] = useLocation();
  const published = latestVersion !== '';
  const writes = useRights().may('write');
  useCommand('agent.versions', () => navigate(versionsUrl(name)));
  useCommand('agent.history', () => showDialog({ kind: 'draftHistory' }));
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

export async function copyReference(reference: string | Promise<string>): Promise<void> {
  if (await copyText(reference)) notify('done', say.copied(await reference));
}
