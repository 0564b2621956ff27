// Splits declarations into entries of a reference. An entry contains the text of a comment and the code that follows
// it.

export interface Entry {
  /** The name that the code declares. */
  name: string;
  about: string;
  code: string;
}

const declared = /(?:interface|class|function|const|type|namespace|def)\s+([A-Za-z_$][\w$]*)/;

/** Splits a file of declarations at its empty lines. It omits parts without a declaration, such as imports. */
export function entriesOf(source: string): Entry[] {
  return source.split(/\n\s*\n/).flatMap((part) => {
    const { about, code } = withoutComment(part);
    const name = declared.exec(code)?.[1];
    return name === undefined ? [] : [{ name, about, code }];
  });
}

/** Separates the comment at the start, or the docstring of a class, from the code. Other comments stay in the code. */
function withoutComment(part: string): { about: string; code: string } {
  const block = /^\s*\/\*\*([\s\S]*?)\*\/\s*\n/.exec(part);
  if (block) return { about: plain(block[1] ?? ''), code: part.slice(block[0].length).trimEnd() };
  const lines = part.split('\n');
  const first = lines.findIndex((line) => !/^\s*(\/\/|#)/.test(line));
  const about = lines.slice(0, Math.max(0, first)).map((line) => line.replace(/^\s*(\/\/|#)\s?/, ''));
  const code = first < 0 ? '' : lines.slice(first).join('\n').trimEnd();
  const doc = /^class [^\n]*\n\s*"""([\s\S]*?)"""\s*\n/.exec(code);
  return doc ? { about: plain(doc[1] ?? ''), code } : { about: about.join(' '), code };
}

const plain = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s?/, '').trim())
    .join(' ')
    .trim();

/** Returns the entries that contain every word. */
export function found(entries: readonly Entry[], search: string): Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ about, code }) => words.every((word) => `${about}\n${code}`.toLowerCase().includes(word)));
}
