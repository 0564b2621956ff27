// Stores earlier texts of the files of an open agent, so that edits can be undone after a reload of the page.
import { ofTab, withStorage } from '../api/storage';

const mostTexts = 100; // maximum number of texts per file
const mostCharacters = 1 << 18; // maximum number of characters per file
const pause = 500; // minimum time in milliseconds between two changes that are undone separately

interface Stored {
  /** The text after the last entry. If the file now has another text, the entries do not apply. */
  now: string;
  before: string[];
}

export class Past {
  private readonly found: Partial<Record<string, Stored>>;
  private readonly before = new Map<string, string[]>();
  private last = { path: '', at: 0 };

  constructor(private readonly name: string) {
    this.found = withStorage(ofTab, (s) => read(s.getItem(keyOf(name)))) ?? {};
  }

  /** Adds the text that a file had before a change. */
  changes(path: string, before: string, at: number): void {
    const { last } = this;
    this.last = { path, at };
    if (last.path === path && at - last.at < pause) return;
    const texts = [...(this.before.get(path) ?? []), before].slice(-mostTexts);
    while (texts.reduce((sum, text) => sum + text.length, 0) > mostCharacters) texts.shift();
    this.before.set(path, texts);
  }

  /** Returns the earlier texts of a file, oldest first. */
  of(path: string, text: string): readonly string[] {
    const stored = this.found[path];
    if (stored?.now !== text || this.before.has(path)) return [];
    this.before.set(path, stored.before);
    return stored.before;
  }

  /** Stores the texts for the page after a reload. */
  store(now: ReadonlyMap<string, string>): void {
    const all: Record<string, Stored> = {};
    for (const [path, before] of this.before) {
      const text = now.get(path);
      if (text !== undefined && before.length > 0) all[path] = { now: text, before };
    }
    withStorage(ofTab, (s) => s.setItem(keyOf(this.name), JSON.stringify(all)));
  }
}

const keyOf = (name: string): string => `atelier.past.${name}`;

function read(text: string | null): Record<string, Stored> {
  return text === null ? {} : (JSON.parse(text) as Record<string, Stored>);
}

/**
 * Returns the smallest replacement that converts one text to another. It replaces the characters from `start` to `end`
 * by `text`.
 */
export function replacement(from: string, to: string): { start: number; end: number; text: string } {
  const least = Math.min(from.length, to.length);
  let start = 0;
  while (start < least && from[start] === to[start]) start++;
  let same = 0;
  while (same < least - start && from[from.length - 1 - same] === to[to.length - 1 - same]) same++;
  return { start, end: from.length - same, text: to.slice(start, to.length - same) };
}
