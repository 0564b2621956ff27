import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator, type Schema } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';

// The programs whose types the server describes, with the inputs that their schemas must accept or refuse. The server's own
// tests check the same inputs with the server's validator; this one was written by others.
const folders = ['runtimes/python/testdata/types', 'runtimes/types/testdata'];
const root = join(import.meta.dirname, '../../..');

interface Inferred {
  inputSchema: Schema;
}

const cases = folders.flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => !name.endsWith('.json'))
    .map((name) => ({ folder, name })),
);

describe('inferred schemas', () => {
  it('has sixty programs', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60);
  });

  it.each(cases)('$name', ({ folder, name }) => {
    const source = readFileSync(join(root, folder, name), 'utf8');
    const golden = readFileSync(join(root, folder, name.replace(/\.\w+$/, '.json')), 'utf8');
    const validator = new Validator((JSON.parse(golden) as Inferred).inputSchema, '2020-12');
    const instances = [...source.matchAll(/^(?:#|\/\/) (valid|invalid) (.*)$/gm)];
    expect(instances.length).toBeGreaterThan(0);
    for (const [line, kind, text] of instances) {
      expect(validator.validate(JSON.parse(text ?? '')).valid, line).toBe(kind === 'valid');
    }
  });
});
