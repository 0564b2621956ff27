import { expect, test } from 'vitest';
import gojaTypes from '../../editor/goja.d.ts.txt?raw';
import programTypes from '../../editor/program.d.ts.txt?raw';
import pythonTypes from '../../editor/python/program.pyi.txt?raw';
import { entriesOf, found } from './entries';

test('comments become texts, and code keeps its own comments', () => {
  const [entry] = entriesOf('/**\n * What it\n * is.\n */\ninterface Ctx {\n  /** Inner. */\n  env: string;\n}\n');
  expect(entry).toEqual({
    name: 'Ctx',
    about: 'What it is.',
    code: 'interface Ctx {\n  /** Inner. */\n  env: string;\n}',
  });
});

test('parts without a declaration are left out', () => {
  expect(entriesOf('// A heading.\n\nimport x\n')).toEqual([]);
});

test('the types of the editor have ctx in every language', () => {
  expect(entriesOf(programTypes).map(({ name }) => name)).toContain('Ctx');
  expect(entriesOf(pythonTypes).map(({ name }) => name)).toContain('Ctx');
  expect(found(entriesOf(gojaTypes), 'searchParams origin').map(({ name }) => name)).toEqual(['URL']);
});
