// Searches the text of all files of an agent.
import type { Files } from '../../api/types';

export interface Hit {
  path: string;
  line: number;
  text: string;
  /** The start of each match in `text`. Every match has the length of the search text. */
  at: number[];
  length: number;
}

export interface Found {
  hits: Hit[];
  /** Whether there are more matches than those in the list. */
  more: boolean;
}

const mostHits = 500;
const around = 60;

/** Returns the positions of matches that do not overlap. */
function allOf(text: string, needle: string): number[] {
  const at: number[] = [];
  for (let from = text.indexOf(needle); from >= 0; from = text.indexOf(needle, from + needle.length)) at.push(from);
  return at;
}

export function searchFiles(files: Files, wanted: string, matchCase: boolean): Found {
  const hits: Hit[] = [];
  if (wanted === '') return { hits, more: false };
  const fold = (text: string): string => (matchCase ? text : text.toLowerCase());
  const needle = fold(wanted);
  for (const path of Object.keys(files).sort()) {
    const content = files[path];
    if (typeof content !== 'string' || !fold(content).includes(needle)) continue;
    for (const [index, line] of content.split('\n').entries()) {
      const first = fold(line).indexOf(needle);
      if (first < 0) continue;
      if (hits.length === mostHits) return { hits, more: true };
      const start = Math.max(0, first - around);
      const text = line.slice(start, first + needle.length + 200);
      hits.push({ path, line: index + 1, text, at: allOf(fold(text), needle), length: needle.length });
    }
  }
  return { hits, more: false };
}

/** Replaces every match in the text files. Returns the changed files and the number of replacements. */
export function replaceInFiles(
  files: Files,
  wanted: string,
  matchCase: boolean,
  by: string,
): { changed: Record<string, string>; count: number } {
  const changed: Record<string, string> = {};
  let count = 0;
  if (wanted === '') return { changed, count };
  const needle = matchCase ? wanted : wanted.toLowerCase();
  for (const [path, content] of Object.entries(files)) {
    if (typeof content !== 'string') continue;
    const folded = matchCase ? content : content.toLowerCase();
    // The length of some letters changes in lower case, so positions would be wrong. For such a file, the search
    // distinguishes upper and lower case.
    const at = folded.length === content.length ? allOf(folded, needle) : allOf(content, wanted);
    if (at.length === 0) continue;
    count += at.length;
    const parts = at.map((from, n) => content.slice(n === 0 ? 0 : (at[n - 1] ?? 0) + wanted.length, from) + by);
    changed[path] = parts.join('') + content.slice((at.at(-1) ?? 0) + wanted.length);
  }
  return { changed, count };
}
