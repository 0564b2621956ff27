export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'place';
  /** The number of the line in the old file. */
  before?: number;
  /** The number of the line in the new file. */
  after?: number;
  /** The text of the line, with its sign. */
  text: string;
}

const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)/;

/** Returns the lines of a unified diff with their numbers. It omits the two file names at the top. */
export function linesOf(unified: string): DiffLine[] {
  let [before, after] = [1, 1];
  return unified
    .replace(/\n$/, '')
    .split('\n')
    .slice(2)
    .map((text): DiffLine => {
      const start = place.exec(text);
      if (start) {
        [before, after] = [Number(start[1]), Number(start[2])];
        return { kind: 'place', text };
      }
      if (text.startsWith('\\')) return { kind: 'place', text }; // skips the note that a file has no newline at its end
      if (text.startsWith('+')) return { kind: 'added', after: after++, text };
      if (text.startsWith('-')) return { kind: 'removed', before: before++, text };
      return { kind: 'same', before: before++, after: after++, text };
    });
}

/** Returns the numbers of lines that a unified diff adds and removes. */
export function countsOf(unified: string): { added: number; removed: number } {
  const lines = linesOf(unified);
  const of = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length;
  return { added: of('added'), removed: of('removed') };
}
