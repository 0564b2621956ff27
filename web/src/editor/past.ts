// Earlier texts of the files of an open agent, so that edits can be undone after a reload of the page.
import { ofTab, withStorage } from '../api/storage';

const mostTexts = 100; // of a file
const mostCharacters = 1 << 18; // of a file
const pause = 500; // milliseconds between two changes that are undone one by one

interface Stored {
  /** The text after the last entry. If the file has another text now, the entries no longer apply. */
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

  /** Takes the text of a file before a change. */
  changes(path: string, before: string, at: number): void {
    const { last } = this;
    this.last = { path, at };
    if (last.path === path && at - last.at < pause) return;
    const texts = [...(this.before.get(path) ?? []), before].slice(-mostTexts);
    while (texts.reduce((sum, text) => sum + text.length, 0) > mostCharacters) texts.shift();
    this.before.set(path, texts);
  }

  /** Returns the texts of a file before the present one, the oldest first. */
  of(path: string, text: string): readonly string[] {
    const stored = this.found[path];
    if (stored?.now !== text || this.before.has(path)) return [];
    this.before.set(path, stored.before);
    return stored.before;
  }

  /** Stores the texts for the page that comes after a reload. */
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

/** The smallest replacement that makes one text of another: characters from `start` to `end` become `text`. */
export function replacement(from: string, to: string): { start: number; end: number; text: string } {
  const least = Math.min(from.length, to.length);
  let start = 0;
  while (start < least && from[start] === to[start]) start++;
  let same = 0;
  while (same < least - start && from[from.length - 1 - same] === to[to.length - 1 - same]) same++;
  return { start, end: from.length - same, text: to.slice(start, to.length - same) };
}
