// Names as people type them, one a line.
export const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const sameLines = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, i) => b[i] === line);

/** What a list in Markdown says, for a place of one line. */
export const inOneLine = (text: string): string =>
  toLines(text)
    .map((line) => line.replace(/^[-*]\s+/, ''))
    .join(' ');
