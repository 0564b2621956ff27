import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changes } from './compare';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');

test('every field of a comparison has a name', () => {
  const fields = [...read('studio/agents/diff.go').matchAll(/\badd\("\w+", "([\w.]+)",/g)].map(([, name = '']) => name);
  const limits = [...read('internal/limits/limits.go').matchAll(/\{"(\w+)", &l\./g)].map(
    ([, name = '']) => `limits.${name}`,
  );
  expect(fields.length).toBeGreaterThan(10);
  expect(limits.length).toBeGreaterThan(5);
  expect([...fields, ...limits].filter((name) => changes.fields[name] === undefined)).toEqual([]);
});
