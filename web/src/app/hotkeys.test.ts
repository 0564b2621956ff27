import { describe, expect, it } from 'vitest';
import { commands, matches, parseChord, showKeys, type Command, type KeyPress } from './hotkeys';

const press = (change: Partial<KeyPress>): KeyPress => ({
  key: '',
  code: '',
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  altGraph: false,
  ...change,
});

describe('hotkeys', () => {
  it('gives no key to two commands', () => {
    const all: readonly Command[] = commands;
    const keys = all.flatMap((c) => (c.keys === undefined ? [] : [c.keys]));
    expect(new Set(keys).size).toBe(keys.length);
  });

  const cases: Record<string, { keys: string; press: Partial<KeyPress>; mac?: boolean; want: boolean }> = {
    'Ctrl+Enter': { keys: 'Mod+Enter', press: { key: 'Enter', ctrlKey: true }, want: true },
    'Ctrl+Shift+Enter is another': {
      keys: 'Mod+Enter',
      press: { key: 'Enter', ctrlKey: true, shiftKey: true },
      want: false,
    },
    '⌘ on macOS': { keys: 'Mod+K', press: { key: 'k', metaKey: true }, mac: true, want: true },
    'Ctrl on macOS is not ⌘': { keys: 'Mod+K', press: { key: 'k', ctrlKey: true }, mac: true, want: false },
    'AltGr types': { keys: 'Alt+[', press: { key: '[', altKey: true, altGraph: true }, want: false },
    'a shifted period is a period': {
      keys: 'Mod+Shift+.',
      press: { key: '>', code: 'Period', ctrlKey: true, shiftKey: true },
      want: true,
    },
    'a question mark needs Shift on most layouts': { keys: '?', press: { key: '?', shiftKey: true }, want: true },
  };
  for (const [name, { keys, press: pressed, mac, want }] of Object.entries(cases)) {
    it(name, () => {
      expect(matches(parseChord(keys), press(pressed), mac ?? false)).toBe(want);
    });
  }

  it('shows keys as the platform writes them', () => {
    expect([showKeys('Mod+Shift+S', false), showKeys('Mod+Shift+S', true)]).toEqual(['Ctrl+Shift+S', '⌘⇧S']);
  });
});
