// Lists all commands with their titles and default shortcuts. The listener for keys, the command palette and the list
// of shortcuts use this list. bindings.ts adds the user's changes.
import { hotkeys as say } from '../texts/app';

export const groups = ['Run', 'Agent', 'Go', 'View', 'Help'] as const;
export type Group = (typeof groups)[number];
export interface Command {
  id: string;
  title: string;
  group: Group;
  /** "Mod" is Ctrl, or ⌘ on macOS. In "g s" the keys are pressed one after the other. */
  keys?: string;
}

export const commands = [
  { id: 'run.start', title: say.run, group: 'Run', keys: 'Mod+Enter' },
  { id: 'run.again', title: say.runWithTheLastInput, group: 'Run', keys: 'Mod+Shift+Enter' },
  { id: 'run.stop', title: say.stop, group: 'Run', keys: 'Mod+Shift+.' },
  { id: 'agent.new', title: say.newAgent, group: 'Agent' },
  { id: 'agent.describe', title: say.describeAgent, group: 'Agent' },
  { id: 'agent.save', title: say.saveNow, group: 'Agent', keys: 'Mod+S' },
  { id: 'agent.publish', title: say.publish, group: 'Agent', keys: 'Mod+Shift+S' },
  { id: 'agent.export', title: say.exportAsTool, group: 'Agent', keys: 'Mod+Shift+E' },
  { id: 'agent.connect', title: say.connect, group: 'Agent' },
  { id: 'agent.reference', title: say.copyReference, group: 'Agent', keys: 'Alt+C' },
  { id: 'agent.versions', title: say.versionsOfThisAgent, group: 'Agent' },
  { id: 'agent.history', title: say.historyOfTheDraft, group: 'Agent' },
  { id: 'agent.compare', title: say.compareWithTheLastVersion, group: 'Agent', keys: 'Mod+Shift+D' },
  { id: 'agent.discard', title: say.discardTheDraft, group: 'Agent' },
  { id: 'agent.rename', title: say.renameThisAgent, group: 'Agent' },
  { id: 'agent.copy', title: say.copyThisAgent, group: 'Agent' },
  { id: 'agent.archive', title: say.exportThisAgentAsArchive, group: 'Agent' },
  { id: 'agent.list', title: say.listInTheRegistry, group: 'Agent' },
  { id: 'agent.delete', title: say.deleteThisAgent, group: 'Agent' },
  { id: 'archive.import', title: say.importAnArchive, group: 'Agent' },
  { id: 'archive.export', title: say.exportAllAgentsAsArchive, group: 'Agent' },
  { id: 'assist.change', title: say.assistChange, group: 'Agent' },
  { id: 'assist.explain', title: say.assistExplain, group: 'Agent' },
  { id: 'assist.review', title: say.assistReview, group: 'Agent' },
  { id: 'assist.tests', title: say.assistTests, group: 'Agent' },
  { id: 'assist.document', title: say.assistDocument, group: 'Agent' },
  { id: 'assist.schemas', title: say.assistSchemas, group: 'Agent' },
  { id: 'file.format', title: say.formatThisFile, group: 'Agent', keys: 'Shift+Alt+F' },
  { id: 'file.new', title: say.newFile, group: 'Agent' },
  { id: 'file.upload', title: say.uploadFiles, group: 'Agent' },
  { id: 'file.search', title: say.searchInFiles, group: 'Go', keys: 'Mod+Shift+F' },
  { id: 'palette', title: say.commandPalette, group: 'Go', keys: 'Mod+K' },
  { id: 'palette.commands', title: say.allCommands, group: 'Go', keys: 'Mod+Shift+P' },
  { id: 'goto', title: say.goToFileOrAgent, group: 'Go', keys: 'Mod+P' },
  { id: 'agents', title: say.allAgents, group: 'Go', keys: 'g a' },
  { id: 'registry', title: say.publicRegistry, group: 'Go', keys: 'g r' },
  { id: 'skills', title: say.skills, group: 'Go' },
  { id: 'toolSets', title: say.toolSets, group: 'Go' },
  { id: 'runs', title: say.allRuns, group: 'Go' },
  { id: 'server', title: say.server, group: 'Go' },
  { id: 'settings', title: say.settings, group: 'Go', keys: 'g s' },
  { id: 'tokens', title: say.tokens, group: 'Go' },
  { id: 'people', title: say.people, group: 'Go' },
  { id: 'secrets', title: say.secrets, group: 'Go' },
  { id: 'packages', title: say.packages, group: 'Go' },
  { id: 'usage', title: say.usage, group: 'Go' },
  { id: 'approvals', title: say.approvals, group: 'Go' },
  { id: 'blocked', title: say.blocked, group: 'Go' },
  { id: 'rules', title: say.rules, group: 'Go' },
  { id: 'workspaces', title: say.workspaces, group: 'Go' },
  { id: 'tab.previous', title: say.previousTab, group: 'Go', keys: 'Alt+[' },
  { id: 'tab.next', title: say.nextTab, group: 'Go', keys: 'Alt+]' },
  { id: 'tab.close', title: say.closeTab, group: 'Go', keys: 'Alt+W' },
  { id: 'region.next', title: say.nextRegion, group: 'Go', keys: 'F6' },
  { id: 'region.previous', title: say.previousRegion, group: 'Go', keys: 'Shift+F6' },
  { id: 'view.left', title: say.toggleLeftPanel, group: 'View', keys: 'Mod+B' },
  { id: 'view.bottom', title: say.toggleBottomPanel, group: 'View', keys: 'Mod+J' },
  { id: 'view.right', title: say.toggleConfiguration, group: 'View', keys: 'Alt+B' },
  { id: 'view.split', title: say.splitEditor, group: 'View', keys: 'Mod+\\' },
  { id: 'view.join', title: say.closeSecondEditor, group: 'View' },
  { id: 'view.maximise', title: say.maximiseOrRestoreBottomPanel, group: 'View', keys: 'Alt+M' },
  { id: 'view.problems', title: say.toggleProblems, group: 'View' },
  { id: 'view.wrap', title: say.wrapLines, group: 'View' },
  { id: 'view.editor', title: say.editorSettings, group: 'View' },
  { id: 'view.theme', title: say.switchTheme, group: 'View' },
  { id: 'help.tour', title: say.tour, group: 'Help' },
  { id: 'help.reference', title: say.reference, group: 'Help' },
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

// These keys are compared by the character that they type. Other keys are compared by their position, if the keyboard
// layout types another character.
const plain = /^[a-z\d]$/i;
const codes: Record<string, string> = { '[': 'BracketLeft', ']': 'BracketRight', '.': 'Period', '\\': 'Backslash' };

/** Whether the pressed keys match the shortcut. Keys that type a character with AltGr never start a command. */
export function matches(chord: Chord, press: KeyPress, mac: boolean): boolean {
  if (press.altGraph) return false;
  const mod = mac ? press.metaKey : press.ctrlKey;
  // On macOS, Option types characters. So a shortcut with Alt is Ctrl+Option on macOS.
  const other = mac ? press.ctrlKey !== (chord.alt && !chord.mod) : press.metaKey;
  if (chord.mod !== mod || other || chord.alt !== press.altKey) return false;
  if (chord.key === '?') return press.key === '?';
  if (chord.shift !== press.shiftKey) return false;
  if (press.key.toLowerCase() === chord.key) return true;
  const code = codes[chord.key] ?? (/\d/.test(chord.key) ? `Digit${chord.key}` : `Key${chord.key.toUpperCase()}`);
  return press.code === code && !plain.test(press.key);
}

/** Returns the first key of a sequence, such as "g" of "g s". It is empty for other shortcuts. */
export const leadOf = (keys: string): string => keys.split(' ').slice(0, -1).join(' ');
export const lastOf = (keys: string): Chord => parseChord(keys.split(' ').at(-1) ?? '');

// Keys that a browser reserves, that fields need, or that have no name.
const reserved = /^Mod\+(Shift\+)?[NTVWZ]$|^Mod\+[ACX]$|Dead$|Process$|Unidentified$/;

/** Returns the name of the key: its character if that is a letter or digit, otherwise its position. */
function nameOf(press: KeyPress): string {
  const code = /^(?:Key|Digit)(.)$/.exec(press.code)?.[1];
  const sign = Object.keys(codes).find((key) => codes[key] === press.code);
  return plain.test(press.key) ? press.key.toUpperCase() : (code ?? sign ?? press.key);
}

/** Returns a letter or digit that was pressed without modifiers, as in "g s". It returns undefined for other keys. */
export function strokeOf(press: KeyPress, mac: boolean): string | undefined {
  const key = nameOf(press).toLowerCase();
  return plain.test(key) && matches(parseChord(key), press, mac) ? key : undefined;
}

/** Returns the pressed keys in the notation of shortcuts, or undefined if no command may use them. */
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

/** A single character must not be a shortcut, because it would start a command while the user types. */
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

/** Returns the value of aria-keyshortcuts. */
export const ariaKeys = (keys: string, mac: boolean): string => keys.replace('Mod', mac ? 'Meta' : 'Control');
