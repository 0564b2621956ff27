import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const file = resolve(import.meta.dirname, '../../../registry/schema/testdata/patterns.txt');

// The server refuses patterns by its own grammar of ECMA-262. JavaScript itself is the judge of that grammar.
test('JavaScript accepts exactly the patterns that the server calls regular expressions', () => {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  for (const line of lines.filter((l) => !l.startsWith('#'))) {
    const [, answer, pattern = ''] = /^(\S+) ?(.*)$/.exec(line) ?? [];
    let accepted = true;
    try {
      new RegExp(pattern, 'u');
    } catch {
      accepted = false;
    }
    expect(accepted, line).toBe(answer !== 'no');
  }
});
