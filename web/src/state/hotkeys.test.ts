import { describe, expect, it } from 'vitest';
import { commands, keysOf, matches, parseChord, showKeys, strokeOf, type Command, type KeyPress } from './hotkeys';

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
    'a letter of another alphabet is where it is': {
      keys: 'Mod+S',
      press: { key: 'ы', code: 'KeyS', ctrlKey: true },
      want: true,
    },
    'a letter that another key types is not where it is': {
      keys: 'Mod+B',
      press: { key: 'x', code: 'KeyB', ctrlKey: true }, // cut, on a Dvorak layout
      want: false,
    },
    'a question mark needs Shift on most layouts': { keys: '?', press: { key: '?', shiftKey: true }, want: true },
  };
  for (const [name, { keys, press: pressed, mac, want }] of Object.entries(cases)) {
    it(name, () => {
      expect(matches(parseChord(keys), press(pressed), mac ?? false)).toBe(want);
    });
  }

  const recorded: [string, Partial<KeyPress>, string | undefined][] = [
    ['a letter with Ctrl', { key: 'y', code: 'KeyY', ctrlKey: true }, 'Mod+Y'],
    ['a shifted sign', { key: '>', code: 'Period', ctrlKey: true, shiftKey: true }, 'Mod+Shift+.'],
    ['a shifted digit', { key: '!', code: 'Digit1', altKey: true, shiftKey: true }, 'Shift+Alt+1'],
    ['a function key', { key: 'F9', code: 'F9' }, 'F9'],
    ['a letter alone types', { key: 'x', code: 'KeyX' }, undefined],
    ['copying stays', { key: 'c', code: 'KeyC', ctrlKey: true }, undefined],
    ['redoing stays', { key: 'Z', code: 'KeyZ', ctrlKey: true, shiftKey: true }, undefined],
    ['half of a letter is no key', { key: 'Dead', code: 'Quote', ctrlKey: true }, undefined],
    ["closing the tab is the browser's", { key: 'w', code: 'KeyW', ctrlKey: true }, undefined],
    ['AltGr types', { key: 'ł', code: 'KeyL', altKey: true, ctrlKey: true, altGraph: true }, undefined],
  ];
  it.each(recorded)('records %s', (_, pressed, want) => {
    expect(keysOf(press(pressed), false)).toBe(want);
  });

  const strokes: [string, Partial<KeyPress>, string | undefined][] = [
    ['a letter', { key: 'g', code: 'KeyG' }, 'g'],
    ['a letter of another script by its place', { key: 'п', code: 'KeyG' }, 'g'],
    ['a digit', { key: '1', code: 'Digit1' }, '1'],
    ['no capital', { key: 'G', code: 'KeyG', shiftKey: true }, undefined],
    ['nothing that is held', { key: 'g', code: 'KeyG', ctrlKey: true }, undefined],
    ['no sign', { key: '[', code: 'BracketLeft' }, undefined],
    ['no function key', { key: 'F9', code: 'F9' }, undefined],
  ];
  it.each(strokes)('takes %s as one of two strokes', (_, pressed, want) => {
    expect(strokeOf(press(pressed), false)).toBe(want);
  });

  it('shows keys as the platform writes them', () => {
    expect([showKeys('Mod+Shift+S', false), showKeys('Mod+Shift+S', true)]).toEqual(['Ctrl+Shift+S', '⌘⇧S']);
  });
});
