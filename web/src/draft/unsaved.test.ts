import { describe, expect, it } from 'vitest';
import { removeEdits, storeEdits, readEdits, type DraftStorage } from './unsaved';
import type { Content } from './session';

function shelf(): DraftStorage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    key: (n) => [...items.keys()][n] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, text) => void items.set(key, text),
    removeItem: (key) => void items.delete(key),
  };
}
const content = (name: string): Content => ({ about: { name }, draft: { files: {} } }) as unknown as Content;

describe('edits that are kept', () => {
  it('are found again by their own tab', () => {
    const s = shelf();
    storeEdits(s, 'a', 'one', content('mine'), 1);
    storeEdits(s, 'a', 'two', content('newer'), 2);
    expect(readEdits(s, 'a', 'one')).toEqual(content('mine'));
  });

  it('that a tab left behind are taken by the next, the newest first, and are its own then', () => {
    const s = shelf();
    storeEdits(s, 'a', 'one', content('old'), 1);
    storeEdits(s, 'a', 'two', content('new'), 2);
    expect(readEdits(s, 'a', 'three')).toEqual(content('new'));
    removeEdits(s, 'a', 'three');
    expect(readEdits(s, 'a', 'three')).toEqual(content('old'));
  });

  it('stay when another tab saves', () => {
    const s = shelf();
    storeEdits(s, 'a', 'one', content('mine'), 1);
    removeEdits(s, 'a', 'two');
    expect(readEdits(s, 'a', 'one')).toEqual(content('mine'));
  });

  it('of another agent are none of ours, nor is what cannot be read', () => {
    const s = shelf();
    storeEdits(s, 'ab', 'one', content('other'), 1);
    const wrong = ['{', 'null', '[]', '{"at":1}', '{"at":1,"content":{"about":{},"draft":{"files":null}}}'];
    for (const text of wrong) {
      s.setItem('atelier.draft.a.one', text);
      expect(readEdits(s, 'a', 'one'), text).toBeUndefined();
    }
  });
});
