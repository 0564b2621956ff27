// Every command of the Studio: what it is called and which keys start it. The listener, the palette and the list of
// shortcuts read this one registry, so that a key without a palette entry cannot be; bindings.ts lays over it what
// somebody has chosen.
import { hotkeys as say } from '../texts/app';

export const groups = ['Run', 'Agent', 'Go', 'View', 'Help'] as const;
export type Group = (typeof groups)[number];
export interface Command {
  id: string;
  title: string;
  group: Group;
  /** "Mod" is Ctrl, on macOS ⌘; "g s" is one after the other. */
  keys?: string;
}

export const commands = [
  { id: 'run.start', title: say.run, group: 'Run', keys: 'Mod+Enter' },
  { id: 'run.again', title: say.runWithTheLastInput, group: 'Run', keys: 'Mod+Shift+Enter' },
  { id: 'run.stop', title: say.stop, group: 'Run', keys: 'Mod+Shift+.' },
  { id: 'agent.new', title: say.newAgent, group: 'Agent' },
  { id: 'agent.save', title: say.saveNow, group: 'Agent', keys: 'Mod+S' },
  { id: 'agent.publish', title: say.publish, group: 'Agent', keys: 'Mod+Shift+S' },
  { id: 'agent.export', title: say.exportAsTool, group: 'Agent', keys: 'Mod+Shift+E' },
  { id: 'agent.reference', title: say.copyReference, group: 'Agent', keys: 'Alt+C' },
  { id: 'agent.versions', title: say.versionsOfThisAgent, group: 'Agent' },
  { id: 'agent.compare', title: say.compareWithTheLastVersion, group: 'Agent', keys: 'Mod+Shift+D' },
  { id: 'agent.discard', title: say.discardTheDraft, group: 'Agent' },
  { id: 'agent.rename', title: say.renameThisAgent, group: 'Agent' },
  { id: 'agent.copy', title: say.copyThisAgent, group: 'Agent' },
  { id: 'agent.archive', title: say.exportThisAgentAsArchive, group: 'Agent' },
  { id: 'agent.list', title: say.listInTheRegistry, group: 'Agent' },
  { id: 'agent.delete', title: say.deleteThisAgent, group: 'Agent' },
  { id: 'archive.import', title: say.importAnArchive, group: 'Agent' },
  { id: 'archive.export', title: say.exportAllAgentsAsArchive, group: 'Agent' },
  { id: 'file.format', title: say.formatThisFile, group: 'Agent', keys: 'Shift+Alt+F' },
  { id: 'file.new', title: say.newFile, group: 'Agent' },
  { id: 'file.upload', title: say.uploadFiles, group: 'Agent' },
  { id: 'file.search', title: say.searchInFiles, group: 'Go', keys: 'Mod+Shift+F' },
  { id: 'palette', title: say.commandPalette, group: 'Go', keys: 'Mod+K' },
  { id: 'goto', title: say.goToFileOrAgent, group: 'Go', keys: 'Mod+P' },
  { id: 'agents', title: say.allAgents, group: 'Go', keys: 'g a' },
  { id: 'registry', title: say.publicRegistry, group: 'Go', keys: 'g r' },
  { id: 'skills', title: say.skills, group: 'Go' },
  { id: 'runs', title: say.allRuns, group: 'Go' },
  { id: 'server', title: say.server, group: 'Go' },
  { id: 'settings', title: say.settings, group: 'Go', keys: 'g s' },
  { id: 'tokens', title: say.tokens, group: 'Go' },
  { id: 'people', title: say.people, group: 'Go' },
  { id: 'secrets', title: say.secretsAndQuotas, group: 'Go' },
  { id: 'workspaces', title: say.workspaces, group: 'Go' },
  { id: 'tab.previous', title: say.previousTab, group: 'Go', keys: 'Alt+[' },
  { id: 'tab.next', title: say.nextTab, group: 'Go', keys: 'Alt+]' },
  { id: 'tab.close', title: say.closeTab, group: 'Go', keys: 'Alt+W' },
  { id: 'region.next', title: say.nextRegion, group: 'Go', keys: 'F6' },
  { id: 'region.previous', title: say.previousRegion, group: 'Go', keys: 'Shift+F6' },
  { id: 'view.left', title: say.toggleLeftPanel, group: 'View', keys: 'Mod+B' },
  { id: 'view.bottom', title: say.toggleBottomPanel, group: 'View', keys: 'Mod+J' },
  { id: 'view.right', title: say.toggleConfiguration, group: 'View', keys: 'Alt+B' },
  { id: 'view.maximise', title: say.maximiseOrRestoreBottomPanel, group: 'View', keys: 'Alt+M' },
  { id: 'view.problems', title: say.toggleProblems, group: 'View' },
  { id: 'view.wrap', title: say.wrapLines, group: 'View' },
  { id: 'view.editor', title: say.editorSettings, group: 'View' },
  { id: 'view.theme', title: say.switchTheme, group: 'View' },
  { id: 'help.keys', title: say.keyboardShortcuts, group: 'Help', keys: '?' },
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

// These are meant as they are typed, wherever their key is. Where a layout types something else the place of the key counts.
const plain = /^[a-z\d]$/i;
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
  if (press.key.toLowerCase() === chord.key) return true;
  const code = codes[chord.key] ?? (/\d/.test(chord.key) ? `Digit${chord.key}` : `Key${chord.key.toUpperCase()}`);
  return press.code === code && !plain.test(press.key);
}

/** What goes before the last key, as the "g" of "g s"; empty for keys that are pressed at once. */
export const leadOf = (keys: string): string => keys.split(' ').slice(0, -1).join(' ');
export const lastOf = (keys: string): Chord => parseChord(keys.split(' ').at(-1) ?? '');

// The browser keeps some for itself, every field needs others, and some names are of no key.
const reserved = /^Mod\+(Shift\+)?[NTVWZ]$|^Mod\+[ACX]$|Dead$|Process$|Unidentified$/;

/** What the key is called: by what it types, where that is a letter or digit, else by its place. */
function nameOf(press: KeyPress): string {
  const code = /^(?:Key|Digit)(.)$/.exec(press.code)?.[1];
  const sign = Object.keys(codes).find((key) => codes[key] === press.code);
  return plain.test(press.key) ? press.key.toUpperCase() : (code ?? sign ?? press.key);
}

/** A letter or digit with nothing held, of which "g s" has two; undefined for any other keys. */
export function strokeOf(press: KeyPress, mac: boolean): string | undefined {
  const key = nameOf(press).toLowerCase();
  return plain.test(key) && matches(parseChord(key), press, mac) ? key : undefined;
}

/** The keys that went down, as the registry writes them; undefined when no command may have them. */
export function keysOf(press: KeyPress, mac: boolean): string | undefined {
  const key = nameOf(press);
  const mod = mac ? press.metaKey : press.ctrlKey;
  const held = [mod && 'Mod', press.shiftKey && 'Shift', press.altKey && 'Alt'].filter((name) => name !== false);
  const keys = [...held, key].join('+');
  const starts = mod || press.altKey || /^F\d+$/.test(key);
  return starts && /^[^+\s]+$/.test(key) && !reserved.test(keys) && matches(parseChord(keys), press, mac)
    ? keys
    : undefined;
}

/** A single character must not start a command while someone types. */
export const isPlainKey = (chord: Chord): boolean => !chord.mod && !chord.alt && chord.key.length === 1;

export function showKeys(keys: string, mac: boolean): string {
  const names: Record<string, string> = mac
    ? { Mod: '⌘', Shift: '⇧', Alt: '⌃⌥', Enter: '↵' }
    : { Mod: 'Ctrl', Enter: 'Enter' };
  const one = (chord: string): string =>
    chord
      .split('+')
      .map((k) => names[k] ?? k)
      .join(mac ? '' : '+');
  return keys.split(' ').map(one).join(' ');
}

/** The value of aria-keyshortcuts. */
export const ariaKeys = (keys: string, mac: boolean): string => keys.replace('Mod', mac ? 'Meta' : 'Control');
