// Full-text search in all files of an agent.
import type { Files } from '../../api/types';

export interface Hit {
  path: string;
  line: number;
  text: string;
  /** The start of each match in `text`. Every match is as long as the search text. */
  at: number[];
  length: number;
}

export interface Found {
  hits: Hit[];
  /** Whether there are more matches than are listed. */
  more: boolean;
}

const mostHits = 500;
const around = 60;

/** Returns the positions of non-overlapping matches. */
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
