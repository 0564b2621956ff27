import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fewerMonacoFeatures, withoutInlineCompletions } from './monacoFeatures';

const monaco = (path) => fileURLToPath(import.meta.resolve(`monaco-editor/${path}.js`));

test.each(['features/register.all', 'internal/common/workers'])(
  '%s has all features but inline completions',
  (path) => {
    const short = fewerMonacoFeatures().load(monaco(path));
    expect(short).not.toMatch(/inlineCompletions/i);
    expect(short).toContain("/suggest/browser/suggestController.js';");
    expect(short).toContain('/contrib/hover/browser/hoverContribution.js');
  },
);

test('a list that is elsewhere ends the build, and other files are left alone', () => {
  expect(() => withoutInlineCompletions("import '../editor/contrib/rename/browser/rename.js';\n")).toThrow('not where');
  expect(fewerMonacoFeatures().load(monaco('editor'))).toBe(null);
});
