import { expect, test } from 'vitest';
import { jsonModule } from './jsonModule';

test('a file is a value with types, and its properties have names', () => {
  expect(jsonModule('{"a": 1, "b-c": ["x", 2, "y"], "class": {}, "default": null}')).toBe(
    'declare const value: { "a": number; "b-c": (string | number)[]; "class": Record<string, never>; "default": null };\n' +
      'export default value;\n' +
      "declare const p0: (typeof value)['a'];\nexport { p0 as a };\n" +
      "declare const p1: (typeof value)['class'];\nexport { p1 as class };\n",
  );
});

test.each([
  ['[]', 'unknown[]'],
  ['"text"', 'string'],
  ['{', 'unknown'],
])('%s is %s', (text, type) => {
  expect(jsonModule(text)).toBe(`declare const value: ${type};\nexport default value;\n`);
});
