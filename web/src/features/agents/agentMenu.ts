// What can be done with an agent, wherever it is shown: in the list, over its editor, and on its page of versions.
import { archiveUrl } from '../../api/verbs';
import { copyText, downloadFrom } from '../../app/clipboard';
import { showDialog, type OpenDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import type { MenuEntry } from '../../ui/Menu';

export interface Known {
  id: string;
  name: string;
  /** Whether it has a version. */
  published: boolean;
  listed: boolean;
}

/** Without the right to write only what changes nothing is offered. */
export function agentEntries({ id, name, published, listed }: Known, writes: boolean): MenuEntry[] {
  const reading: MenuEntry[] = [
    { kind: 'item', label: 'Copy name', run: () => void copyName(name) },
    { kind: 'rule' },
    { kind: 'item', label: 'Export as archive', run: () => exportArchive(name) },
  ];
  if (!writes) return reading;
  const listing: MenuEntry[] = published
    ? [ask(listed ? 'Take out of the registry…' : 'List in the registry…', { kind: 'list', name, listed })]
    : [];
  return [
    ask('Rename…', { kind: 'rename', id, name, published }),
    ask('Copy…', { kind: 'duplicate', id, name }),
    ...reading,
    ...listing,
    { kind: 'rule' },
    { ...ask('Delete…', { kind: 'delete', id, name }), danger: true },
  ];
}

/** An entry that opens a dialog. The menu must be gone before, since it takes the focus back. */
export function ask(label: string, dialog: OpenDialog): Extract<MenuEntry, { kind: 'item' }> {
  return { kind: 'item', label, run: () => setTimeout(() => showDialog(dialog)) };
}

/** The named agents with all their versions as one file, or the whole workspace. */
export function exportArchive(...names: string[]): void {
  downloadFrom(archiveUrl(...names), `${names.length === 1 ? names[0] : 'atelier'}.tar.gz`);
}

async function copyName(name: string): Promise<void> {
  if (await copyText(name)) notify('done', `Copied ${name}`);
}
