// Parses lists that a user types with one name per line.
export const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const sameLines = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, i) => b[i] === line);

/** Returns the items of a Markdown list in one line. */
export const inOneLine = (text: string): string =>
  toLines(text)
    .map((line) => line.replace(/^[-*]\s+/, ''))
    .join(' ');
