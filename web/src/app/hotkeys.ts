// Every command of the Studio: what it is called and which keys start it. The listener, the palette and the list of
// shortcuts read this one registry, so that a key without a palette entry cannot be.

export type Group = 'Go to' | 'Agent' | 'Run' | 'View' | 'Help';
export interface Command {
  id: string;
  title: string;
  group: Group;
  /** "Mod" is Ctrl, on macOS ⌘. */
  keys?: string;
}

export const commands = [
  { id: 'run.start', title: 'Run', group: 'Run', keys: 'Mod+Enter' },
  { id: 'run.again', title: 'Run with the last input again', group: 'Run', keys: 'Mod+Shift+Enter' },
  { id: 'run.stop', title: 'Stop', group: 'Run', keys: 'Mod+Shift+.' },
  { id: 'agent.new', title: 'New agent…', group: 'Agent' },
  { id: 'agent.save', title: 'Save now', group: 'Agent', keys: 'Mod+S' },
  { id: 'agent.publish', title: 'Publish…', group: 'Agent', keys: 'Mod+Shift+S' },
  { id: 'agent.export', title: 'Export as tool', group: 'Agent', keys: 'Mod+Shift+E' },
  { id: 'agent.reference', title: 'Copy reference', group: 'Agent', keys: 'Alt+C' },
  { id: 'agent.versions', title: 'Versions of this agent', group: 'Agent' },
  { id: 'agent.compare', title: 'Compare with the last version', group: 'Agent', keys: 'Mod+Shift+D' },
  { id: 'agent.discard', title: 'Discard the draft…', group: 'Agent' },
  { id: 'agent.rename', title: 'Rename this agent…', group: 'Agent' },
  { id: 'agent.copy', title: 'Copy this agent…', group: 'Agent' },
  { id: 'agent.archive', title: 'Export this agent as archive', group: 'Agent' },
  { id: 'agent.list', title: 'List in the registry, or take out…', group: 'Agent' },
  { id: 'agent.delete', title: 'Delete this agent…', group: 'Agent' },
  { id: 'archive.import', title: 'Import an archive…', group: 'Agent' },
  { id: 'archive.export', title: 'Export all agents as archive', group: 'Agent' },
  { id: 'file.format', title: 'Format this file', group: 'Agent', keys: 'Shift+Alt+F' },
  { id: 'file.new', title: 'New file', group: 'Agent' },
  { id: 'file.upload', title: 'Upload files…', group: 'Agent' },
  { id: 'file.search', title: 'Search in files', group: 'Go to', keys: 'Mod+Shift+F' },
  { id: 'palette', title: 'Command palette', group: 'Go to', keys: 'Mod+K' },
  { id: 'goto', title: 'Go to file or agent', group: 'Go to', keys: 'Mod+P' },
  { id: 'agents', title: 'All agents', group: 'Go to' },
  { id: 'registry', title: 'Public registry', group: 'Go to' },
  { id: 'skills', title: 'Skills', group: 'Go to' },
  { id: 'runs', title: 'All runs', group: 'Go to' },
  { id: 'server', title: 'Server: engines and sandbox', group: 'Go to' },
  { id: 'tokens', title: 'Tokens', group: 'Go to' },
  { id: 'people', title: 'People', group: 'Go to' },
  { id: 'secrets', title: 'Secrets and quotas', group: 'Go to' },
  { id: 'workspaces', title: 'Workspaces of this server', group: 'Go to' },
  { id: 'tab.previous', title: 'Previous tab', group: 'Go to', keys: 'Alt+[' },
  { id: 'tab.next', title: 'Next tab', group: 'Go to', keys: 'Alt+]' },
  { id: 'tab.close', title: 'Close tab', group: 'Go to', keys: 'Alt+W' },
  { id: 'region.next', title: 'Next region', group: 'Go to', keys: 'F6' },
  { id: 'region.previous', title: 'Previous region', group: 'Go to', keys: 'Shift+F6' },
  { id: 'view.left', title: 'Toggle left panel', group: 'View', keys: 'Mod+B' },
  { id: 'view.bottom', title: 'Toggle bottom panel', group: 'View', keys: 'Mod+J' },
  { id: 'view.right', title: 'Toggle configuration', group: 'View', keys: 'Alt+B' },
  { id: 'view.maximise', title: 'Maximise or restore bottom panel', group: 'View', keys: 'Alt+M' },
  { id: 'view.problems', title: 'Toggle problems', group: 'View' },
  { id: 'view.wrap', title: 'Wrap long lines of the output', group: 'View' },
  { id: 'view.editor', title: 'Editor settings…', group: 'View' },
  { id: 'view.theme', title: 'Switch theme', group: 'View' },
  { id: 'help.keys', title: 'Keyboard shortcuts', group: 'Help', keys: '?' },
] as const satisfies readonly Command[];

export type CommandId = (typeof commands)[number]['id'];

export interface Chord {
  mod: boolean;
  shift: boolean;
  alt: boolean;
  key: string;
}

export function parseChord(keys: string): Chord {
  const parts = keys.split('+');
  const key = parts.at(-1) ?? '';
  return {
    mod: parts.includes('Mod'),
    shift: parts.includes('Shift'),
    alt: parts.includes('Alt'),
    key: key.toLowerCase(),
  };
}

export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  altGraph: boolean;
}

const codes: Record<string, string> = { '[': 'BracketLeft', ']': 'BracketRight', '.': 'Period' };

/** Whether the keys that went down are the chord. Layouts that type with AltGr never start a command. */
export function matches(chord: Chord, press: KeyPress, mac: boolean): boolean {
  if (press.altGraph) return false;
  const mod = mac ? press.metaKey : press.ctrlKey;
  // Option types characters on macOS, so a lone Alt chord is read there as Ctrl+Option.
  const other = mac ? press.ctrlKey !== (chord.alt && !chord.mod) : press.metaKey;
  if (chord.mod !== mod || other || chord.alt !== press.altKey) return false;
  if (chord.key === '?') return press.key === '?';
  if (chord.shift !== press.shiftKey) return false;
  return press.key.toLowerCase() === chord.key || press.code === (codes[chord.key] ?? `Key${chord.key.toUpperCase()}`);
}

/** A single character must not start a command while someone types. */
export const isPlainKey = (chord: Chord): boolean => !chord.mod && !chord.alt && chord.key.length === 1;

export function showKeys(keys: string, mac: boolean): string {
  const names: Record<string, string> = mac
    ? { Mod: '⌘', Shift: '⇧', Alt: '⌃⌥', Enter: '↵' }
    : { Mod: 'Ctrl', Enter: 'Enter' };
  return keys
    .split('+')
    .map((k) => names[k] ?? k)
    .join(mac ? '' : '+');
}

/** The value of aria-keyshortcuts. */
export const ariaKeys = (keys: string, mac: boolean): string => keys.replace('Mod', mac ? 'Meta' : 'Control');
