// Finds the first syntax error in a JSON text. The browsers' messages differ and often omit the position.

import { locate as say } from '../texts/form';
const number = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex -- JSON strings may not hold control characters
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const word = /true|false|null/y;
const space = /[ \t\r\n]*/y;

/** Returns the offset of the first invalid character, or undefined if the text is valid JSON. */
export function faultOffset(text: string): number | undefined {
  const scanner = new Scanner(text);
  return scanner.whole() ? undefined : scanner.at;
}

class Scanner {
  at = 0;
  constructor(private readonly text: string) {}

  whole(): boolean {
    return this.value(0) && this.atEnd();
  }

  private value(depth: number): boolean {
    this.skip();
    const first = this.text[this.at];
    // Below this depth the browser's parser decides, because the scanner is recursive.
    if (depth > 500) return false;
    if (first === '{') return this.list('}', () => this.take(string) && this.mark(':') && this.value(depth + 1));
    if (first === '[') return this.list(']', () => this.value(depth + 1));
    return this.take(first === '"' ? string : first === '-' || (first ?? '') >= '0' ? this.numeric() : word);
  }

  private numeric(): RegExp {
    return /[-0-9]/.test(this.text[this.at] ?? '') ? number : word;
  }

  private list(close: string, item: () => boolean): boolean {
    this.at++;
    if (this.mark(close)) return true;
    do {
      this.skip();
      if (!item()) return false;
    } while (this.mark(','));
    return this.mark(close);
  }

  private mark(character: string): boolean {
    this.skip();
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private atEnd(): boolean {
    this.skip();
    return this.at === this.text.length;
  }

  private skip(): void {
    this.take(space);
  }

  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (!match) return false;
    this.at += match[0].length;
    return true;
  }
}

/** Returns a sentence about the error that contains the position. */
export function faultSentence(text: string): string {
  const offset = faultOffset(text) ?? 0;
  if (text.trim() === '') return say.empty;
  const before = text.slice(0, offset).split('\n');
  const found = offset >= text.trimEnd().length ? say.theTextEndsTooEarly : say.isNotExpected(text[offset] ?? '');
  return say.notValidJson(found, before.length, (before.at(-1)?.length ?? 0) + 1);
}
