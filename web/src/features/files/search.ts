// A text in all files of an agent.
import type { Files } from '../../api/types';

export interface Hit {
  path: string;
  line: number;
  text: string;
  /** Where the match stands in `text`. */
  from: number;
  to: number;
}

export interface Found {
  hits: Hit[];
  /** Whether there are more than are listed. */
  more: boolean;
}

const mostHits = 500;
const around = 60;

export function searchFiles(files: Files, wanted: string, matchCase: boolean): Found {
  const hits: Hit[] = [];
  if (wanted === '') return { hits, more: false };
  const fold = (text: string): string => (matchCase ? text : text.toLowerCase());
  const needle = fold(wanted);
  for (const path of Object.keys(files).sort()) {
    const content = files[path];
    if (typeof content !== 'string' || !fold(content).includes(needle)) continue;
    for (const [index, line] of content.split('\n').entries()) {
      const at = fold(line).indexOf(needle);
      if (at < 0) continue;
      if (hits.length === mostHits) return { hits, more: true };
      const start = Math.max(0, at - around);
      const text = line.slice(start, at + needle.length + 200);
      hits.push({ path, line: index + 1, text, from: at - start, to: at - start + needle.length });
    }
  }
  return { hits, more: false };
}
