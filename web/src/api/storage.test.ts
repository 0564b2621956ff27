import { describe, expect, it } from 'vitest';
import { readBindings } from '../state/bindings';
import { readEditorSettings } from '../editor/settings';
import { keep, readStored } from './storage';

const garbage: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'x'],
  ['a list', [1]],
  ['a number', 5],
  ['null in each place', { chosen: null, fontSize: null, wrap: null, keys: null, tabSize: null, python: null }],
  ['a list in each place', { chosen: [], fontSize: [], wrap: [], keys: [], tabSize: [], python: [] }],
  ['other things in each place', { chosen: { palette: null, agents: 3 }, fontSize: 9000, keys: 'emacs', tabSize: -1 }],
];

describe('settings of which only rubbish is kept', () => {
  it.each(garbage)('are the initial ones: %s', (_, was) => {
    expect(readBindings(was)).toEqual({ chosen: {} });
    expect(readEditorSettings(was)).toEqual(readEditorSettings(undefined));
  });

  it('valid settings next to invalid ones are kept', () => {
    expect(readBindings({ chosen: { palette: 'Alt+P', agents: null } })).toEqual({ chosen: { palette: 'Alt+P' } });
    expect(readEditorSettings({ fontSize: 18, wrap: 'yes', keys: 'vim' })).toEqual({
      ...readEditorSettings(undefined),
      fontSize: 18,
      keys: 'vim',
    });
  });
});

describe('a storage', () => {
  const forbidden = (): Storage => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };

  it('blocked storage stores nothing and throws nothing', () => {
    expect(keep('a', 'x', forbidden)).toBe(false);
    expect(readStored('a', String, forbidden)).toBeUndefined();
  });

  it('holds nothing of what its reader cannot read', () => {
    const holds = (): Storage => ({ getItem: () => '{' }) as unknown as Storage;
    expect(readStored('a', (text) => JSON.parse(text) as unknown, holds)).toBeUndefined();
  });
});
