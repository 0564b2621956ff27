// Parses the escape sequences for colours and weights of terminals (Select Graphic Rendition) into spans. All other
// escape sequences are removed.

export interface Style {
  fg?: string;
  bg?: string;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  strike?: true;
  inverse?: true;
}
export interface Span {
  text: string;
  style: Style;
}

const esc = '\u001b';
// Matches CSI sequences, OSC sequences with their text, other two-byte escapes, and unwanted control characters.
const escapes = new RegExp(
  `${esc}\\[([0-9;:?<=>]*)[ -/]*([@-~])|${esc}\\][^\\u0007${esc}]*(?:\\u0007|${esc}\\\\)?|${esc}[ -~]?|[\\u0000-\\u0008\\u000b-\\u001f\\u007f]`,
  'g',
);

/**
 * Splits a line into spans. The line starts with the style at the end of the previous line. Returns the spans and the
 * style at the end.
 */
export function parseLine(line: string, start: Style = {}): { spans: Span[]; end: Style } {
  if (!hasEscapes(line)) return { spans: line === '' ? [] : [{ text: line, style: start }], end: start };
  const spans: Span[] = [];
  let style = start;
  let at = 0;
  const push = (to: number): void => {
    if (to > at) spans.push({ text: line.slice(at, to), style });
  };
  for (const match of line.matchAll(escapes)) {
    push(match.index);
    at = match.index + match[0].length;
    if (match[2] === 'm') style = apply(style, match[1] ?? '');
  }
  push(line.length);
  return { spans, end: style };
}

/**
 * Returns the style at the end of a line without splitting the line. It is fast if the line ends with a reset, as most
 * coloured lines do.
 */
export function endStyle(line: string, start: Style): Style {
  const last = line.lastIndexOf(`${esc}[`);
  if (last < 0) return start;
  if (line.startsWith('0m', last + 2) || line.startsWith('m', last + 2)) return {};
  return parseLine(line, start).end;
}

export function isPlain(style: Style): boolean {
  for (const _ in style) return false;
  return true;
}

/** Returns the line as plain text for copying. */
export function plainText(line: string): string {
  return hasEscapes(line) ? line.replace(escapes, '') : line;
}

function hasEscapes(line: string): boolean {
  escapes.lastIndex = 0;
  const found = escapes.test(line);
  escapes.lastIndex = 0;
  return found;
}

function apply(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number);
  let style = before;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes, i + 1);
      i += used;
      if (colour !== undefined) style = { ...style, [code === 38 ? 'fg' : 'bg']: colour };
    } else {
      style = simple(style, code);
    }
  }
  return style;
}

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const token = (index: number): string => `var(--ansi-${names[index % 8] ?? 'white'})`;

function simple(style: Style, code: number): Style {
  if (code === 0) return {};
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 7) return { ...style, inverse: true };
  if (code === 9) return { ...style, strike: true };
  if (code === 22) return without(style, 'bold', 'dim');
  if (code === 23) return without(style, 'italic');
  if (code === 24) return without(style, 'underline');
  if (code === 27) return without(style, 'inverse');
  if (code === 29) return without(style, 'strike');
  if (code === 39) return without(style, 'fg');
  if (code === 49) return without(style, 'bg');
  if (within(code, 30)) return { ...style, fg: token(code - 30) };
  if (within(code, 90)) return { ...style, fg: code === 90 ? 'var(--fg3)' : token(code - 90) };
  if (within(code, 40)) return { ...style, bg: token(code - 40) };
  if (within(code, 100)) return { ...style, bg: token(code - 100) };
  return style;
}

const within = (code: number, base: number): boolean => code >= base && code < base + 8;

function without(style: Style, ...keys: (keyof Style)[]): Style {
  const next = { ...style };
  for (const key of keys) Reflect.deleteProperty(next, key);
  return next;
}

/** Parses the parameters of a 256-colour or true-colour code. Returns the number of parameters that it used. */
function extended(codes: number[], at: number): [string | undefined, number] {
  if (codes[at] === 5) return [indexed(codes[at + 1] ?? 0), 2];
  if (codes[at] === 2) return [rgb(codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0), 4];
  return [undefined, 0];
}

function indexed(n: number): string | undefined {
  if (n < 0 || n > 255) return undefined;
  if (n < 8) return token(n);
  if (n < 16) return n === 8 ? 'var(--fg3)' : token(n - 8);
  if (n >= 232) return rgb(8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10);
  const level = (v: number): number => (v === 0 ? 0 : 55 + v * 40);
  const cube = n - 16;
  return rgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function rgb(r: number, g: number, b: number): string {
  const channel = (v: number): number => Math.max(0, Math.min(255, Math.round(v) || 0));
  return `rgb(${channel(r)} ${channel(g)} ${channel(b)})`;
}
