// TypeScript and JavaScript in the editor: types from the current schemas, and imports between files.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Editing } from './kit/editing';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
let editing: Editing;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
  editing = new Editing(page);
});

async function open(name: string, language: 'typescript' | 'javascript', files: Record<string, string>): Promise<void> {
  const entrypoint = language === 'typescript' ? 'main.ts' : 'main.js';
  await must(atelier, 'POST', '/code-agents', {
    name,
    language,
    entrypoint,
    files,
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    outputSchema: { type: 'object', properties: { tempC: { type: 'number' } } },
  });
  await studio.openAgent(name);
}

const typed = 'export default function main(input: Input): Output {\n  void 0;\n  return { tempC: 1 };\n}\n';

test('A08 the input of a TypeScript agent is completed, with types', async () => {
  await open('typed', 'typescript', { 'main.ts': typed });
  await editing.retype(2, 'input.');
  await editing.suggests('city');
  await page.getByText('(property) city: string').first().waitFor();
});

test('A09 a property that is added to the schema is offered without a reload', async () => {
  await open('grows', 'typescript', { 'main.ts': typed });
  await studio.rewriteInputSchema({ zip: { type: 'string' } }, 'main.ts');
  await editing.retype(2, 'input.');
  await editing.suggests('zip');
});

test('A10 an output that the schema does not allow is marked on its line', async () => {
  await open('marked', 'typescript', { 'main.ts': typed.replace('tempC: 1', 'tempC: "x"') });
  await page.getByTitle('1 error', { exact: true }).waitFor();
  await editing.hasMark(/Type 'string' is not assignable to type 'number'/);
  await expect.poll(() => page.getByText(/^Ln 3, Col/).count()).toBe(1);
});

test('A11 the input of a JavaScript agent is completed', async () => {
  const code = '/** @param {Input} input */\nexport default function main(input) {\n  void 0;\n  return {};\n}\n';
  await open('plain', 'javascript', { 'main.js': code });
  await editing.retype(3, 'input.');
  await editing.suggests('city');
});

test('A08 imports between files resolve, of the other language and of JSON as well', async () => {
  await open('imports', 'typescript', {
    'main.ts': [
      "import { add } from './lib/add';",
      "import { twice } from './lib/twice.js';",
      "import prices, { bread } from './prices.json';",
      'export default () => add(twice(bread), prices.milk.large);',
      '',
    ].join('\n'),
    'lib/add.ts': 'export const add = (a: number, b: number): number => a + b;\n',
    'lib/twice.js': '/** @param {number} n */\nexport const twice = (n) => n * 2;\n',
    'prices.json': '{ "bread": 3, "milk": { "large": 2 } }',
  });
  await editing.at(4);
  await page.keyboard.type(' prices.');
  await editing.suggests('milk');
  await page.keyboard.press('Escape');
  for (let n = 0; n < ' prices.'.length; n++) await page.keyboard.press('Backspace');
  await studio.hasNoErrorMarks();
  await editing.at(1, 10);
  await page.keyboard.press('F12');
  await page.getByRole('tab', { name: 'add.ts', selected: true }).waitFor();
});

test('JavaScript that says no types is marked for what is wrong, and not for that', async () => {
  await open('untyped', 'javascript', {
    'main.js': [
      'export default function main(input, ctx) {',
      '  const rows = [];',
      '  try {',
      '    rows.push(input.city, ctx);',
      '  } catch (error) {',
      '    console.log(error.message);',
      '  }',
      '  return [rows, absent];',
      '}',
      '',
    ].join('\n'),
  });
  await expect.poll(() => page.getByTitle(/^[1-9]\d* errors?$/).allTextContents()).toEqual(['1']);
});

test('A08 a name is changed in all files', async () => {
  await open('renamed', 'typescript', {
    'main.ts': "import { add } from './lib/add';\nexport default () => add(1, 2);\n",
    'lib/add.ts': 'export const add = (a: number, b: number): number => a + b;\n',
  });
  await editing.at(1, 10);
  await page.keyboard.press('F2');
  await page.getByRole('textbox', { name: /^Rename input/ }).fill('plus');
  await page.keyboard.press('Enter');
  const draft = async () => (await atelier.api('GET', '/api/v1/code-agents/renamed')).body;
  await expect.poll(draft).toMatchObject({
    draft: {
      files: {
        'main.ts': "import { plus } from './lib/add';\nexport default () => plus(1, 2);\n",
        'lib/add.ts': expect.stringMatching(/^export const plus =/) as unknown,
      },
    },
  });
});

test('A21 Shift+Alt+F formats', async () => {
  await open('formats', 'typescript', { 'main.ts': 'export default function main( ){\nreturn   { tempC:1 }\n   }\n' });
  await editing.at(1);
  await page.keyboard.press('Shift+Alt+F');
  const code = async () => (await atelier.api('GET', '/api/v1/code-agents/formats')).body;
  await expect.poll(code).toMatchObject({
    draft: { files: { 'main.ts': 'export default function main() {\n  return { tempC: 1 };\n}\n' } },
  });
});

test('a name that another file or module exports is suggested, and its import is added', async () => {
  const code = 'export default function main(input: Input) {\n  void 0;\n  return {};\n}\n';
  await must(atelier, 'POST', '/code-agents', {
    name: 'shout',
    language: 'javascript',
    code: 'export default () => 1\n',
  });
  await must(atelier, 'POST', '/code-agents/shout/versions', { version: '1.0.0' });
  await must(atelier, 'POST', '/code-agents', {
    name: 'adds-imports',
    language: 'typescript',
    entrypoint: 'main.ts',
    files: { 'main.ts': code, 'lib/rates.ts': 'export const exchangeRate = (from: string): number => from.length;\n' },
    capabilities: { tools: ['shout@^1'] },
  });
  await studio.openAgent('adds-imports');
  await editing.retype(2, 'exchangeR');
  const option = page.getByRole('option', { name: /exchangeRate/ });
  await option.first().waitFor();
  await studio.saving(() => page.keyboard.press('Enter'));
  await page.keyboard.type('("NOK");');
  await page.keyboard.press('Enter');
  await page.keyboard.type('await shou');
  await page.getByRole('option', { name: /shout/ }).first().waitFor();
  await page.keyboard.press('Enter');
  await expect
    .poll(async () => {
      const { draft } = (await must(atelier, 'GET', '/code-agents/adds-imports')) as {
        draft: { files: Record<string, string> };
      };
      return draft.files['main.ts'];
    })
    .toMatch(/^import \{ shout \} from "agents";\nimport \{ exchangeRate \} from "\.\/lib\/rates";\n/);
});

test('JavaScript suggests what another file exports, and a member needs no import', async () => {
  await open('adds-plain', 'javascript', {
    'main.js': 'export default function main(input) {\n  void 0;\n  return {};\n}\n',
    'lib/rates.js': 'export const exchangeRate = (from) => from.length;\n',
  });
  await editing.retype(2, 'exchangeR');
  await page
    .getByRole('option', { name: /exchangeRate/ })
    .first()
    .waitFor();
  await studio.saving(() => page.keyboard.press('Tab'));
  await expect
    .poll(async () => {
      const { draft } = (await must(atelier, 'GET', '/code-agents/adds-plain')) as {
        draft: { files: Record<string, string> };
      };
      return draft.files['main.js'];
    })
    .toMatch(/^import \{ exchangeRate \} from "\.\/lib\/rates(\.js)?";\n/);
});
