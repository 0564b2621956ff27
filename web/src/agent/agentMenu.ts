// Builds the menu of an agent. The agent list, the editor and the versions page use the same menu.
import { archiveUrl } from '../api/verbs';
import { copyText, downloadFrom } from '../state/clipboard';
import { showDialog, type OpenDialog } from '../state/dialogs';
import { notify } from '../state/notices';
import { agentMenu as say } from '../texts/agents';
import type { MenuEntry } from '../ui/Menu';

export interface Known {
  id: string;
  name: string;
  /** Whether the agent has at least one version. */
  published: boolean;
  listed: boolean;
}

/** Returns the menu entries. Without write access it returns only entries that change nothing. */
export function agentEntries({ id, name, published, listed }: Known, writes: boolean): MenuEntry[] {
  const reading: MenuEntry[] = [
    { kind: 'item', label: say.copyName, run: () => void copyName(name) },
    { kind: 'rule' },
    { kind: 'item', label: say.exportAsArchive, run: () => exportArchive(name) },
  ];
  if (!writes) return reading;
  const listing: MenuEntry[] = published
    ? [ask(listed ? say.takeOutOfTheRegistry : say.listInTheRegistry, { kind: 'list', name, listed })]
    : [];
  return [
    ask(say.rename, { kind: 'rename', id, name, published }),
    ask(say.copy, { kind: 'duplicate', id, name }),
    ...reading,
    ...listing,
    { kind: 'rule' },
    { ...ask(say.delete, { kind: 'delete', id, name }), danger: true },
  ];
}

/** Returns an entry that opens a dialog. */
export function ask(label: string, dialog: OpenDialog): Extract<MenuEntry, { kind: 'item' }> {
  return { kind: 'item', label, later: true, run: () => showDialog(dialog) };
}

/**
 * Downloads an archive of the named agents with all their versions. Without names, the archive contains the whole
 * workspace.
 */
export function exportArchive(...names: string[]): void {
  downloadFrom(archiveUrl(...names), `${names.length === 1 ? names[0] : 'atelier'}.tar.gz`);
}

async function copyName(name: string): Promise<void> {
  if (await copyText(name)) notify('done', say.copied(name));
}
