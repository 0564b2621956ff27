// Python in the editor: the language service runs in the page without the server or another host.
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

async function open(name: string, files: Record<string, string>): Promise<void> {
  const city = { type: 'string', description: 'Where to look.' };
  const inputSchema = { type: 'object', properties: { city, days: { type: 'integer' } }, required: ['city'] };
  await must(atelier, 'POST', '/code-agents', { name, language: 'python', entrypoint: 'main.py', files, inputSchema });
  await studio.openAgent(name);
}

interface Capabilities {
  languages: { language: string; engines?: { version?: string }[] }[];
}

const typed = 'import datetime\nimport json\n\n\ndef main(input, ctx):\n    pass\n    return {}\n';

test('A12 input and the standard library are completed', async () => {
  await open('completes', { 'main.py': typed });
  await editing.pythonReady();
  await editing.retype(6, 'input["');
  await editing.suggests('"city"');
  await editing.retype(6, 'datetime.datetime.no');
  await editing.suggests('now');
  await editing.retype(6, 'ctx.pro');
  await editing.suggests('progress');
});

test('A12 types follow the schema without a reload', async () => {
  await open('follows', { 'main.py': typed });
  await editing.pythonReady();
  await studio.rewriteInputSchema({ postcode: { type: 'string' } }, 'main.py');
  await editing.retype(6, 'input["');
  await editing.suggests('"postcode"');
});

test('A13 a wrong type is marked with its rule', async () => {
  await open('wrong', { 'main.py': 'x: int = "a"\n\n\ndef main(input, ctx):\n    return x\n' });
  await editing.hasMark(/reportAssignmentType/);
});

test('a package that no program can import here is marked as missing', async () => {
  await open('packages', { 'main.py': 'import yaml\n\n\ndef main(input, ctx):\n    return yaml.safe_load(input)\n' });
  await editing.hasMark(/reportMissingImports/);
});

test('A14 another file is found, and F12 opens it', async () => {
  await open('two', {
    'main.py': 'from helper import add\n\n\ndef main(input, ctx):\n    return add(1, 2)\n',
    'helper.py': 'def add(a: int, b: int) -> int:\n    """Adds."""\n    return a + b\n',
  });
  await editing.pythonReady();
  await studio.hasNoErrorMarks();
  await editing.at(1, 22);
  await page.keyboard.press('F12');
  await page.getByRole('tab', { name: 'helper.py', selected: true }).waitFor();
  await expect.poll(() => page.getByText(/^Ln 1, Col 5/).count()).toBe(1);
});

test('A14 a name is shown, called and changed across files', async () => {
  await open('renames', {
    'main.py': 'from helper import add\n\n\ndef main(input, ctx):\n    pass\n    return add(1, 2)\n',
    'helper.py': 'def add(a: int, b: int) -> int:\n    """Adds two numbers."""\n    return a + b\n',
  });
  await editing.pythonReady();
  await page.getByText('add', { exact: true }).first().hover();
  await page.getByText('Adds two numbers.').first().waitFor();
  await editing.retype(5, 'add(');
  await page.getByText('a: int', { exact: true }).waitFor();
  await page.keyboard.type('1, 2)');
  await editing.at(1, 21);
  await page.keyboard.press('F2');
  await page.getByRole('textbox', { name: /^Rename input/ }).fill('plus');
  await page.keyboard.press('Enter');
  const draft = async () => (await atelier.api('GET', '/api/v1/code-agents/renames')).body;
  await expect.poll(draft).toMatchObject({
    draft: {
      files: {
        'main.py': 'from helper import plus\n\n\ndef main(input, ctx):\n    plus(1, 2)\n    return plus(1, 2)\n',
        'helper.py': expect.stringMatching(/^def plus\(/) as unknown,
      },
    },
  });
  await studio.hasNoErrorMarks();
});

test('a language service that could not be loaded is tried again when it is asked for', async () => {
  let away = true;
  await page.route(/pyright\.worker/, (route) => (away ? route.abort() : route.continue()));
  await open('later', { 'main.py': 'x: int = "a"\n\n\ndef main(input, ctx):\n    return x\n' });
  await page.getByText('Python: colours only').waitFor();
  const service = page.getByRole('status', { name: 'Python’s language service', exact: true });
  expect(await service.innerText()).toBe('colours only');
  const said = await service.elementHandle();
  away = false;
  await page.getByRole('button', { name: 'Retry starting Python’s language service' }).click();
  await editing.pythonReady();
  const settings = page.getByRole('button', { name: 'Editor settings' });
  expect(await settings.evaluate((button) => button === document.activeElement)).toBe(true);
  await editing.hasMark(/reportAssignmentType/);
  expect(await said.innerText()).toBe('ready'); // in the same element, so that a screen reader announces it
});

const tString = 'def main(input, ctx):\n    return {"said": t"{1 + 1}".strings[0]}\n'; // syntax of 3.14

test('features of a newer Python are marked: a library name, and a syntax error once', async () => {
  const { languages } = (await must(atelier, 'GET', '/capabilities')) as Capabilities;
  const version = languages.find(({ language }) => language === 'python')?.engines?.[0]?.version;
  // If the server does not know its Python version, the service uses the newest.
  const minor = Number(version?.split('.')[1] ?? 'Infinity');
  const imports = 'from itertools import accumulate, batched\n\n\n'; // batched came with 3.12
  const main = 'def main(input, ctx):\n    return [*accumulate([1]), *batched([1], 2)]\n';
  await open('names', { 'main.py': imports + main });
  await editing.pythonReady();
  await page.getByRole('button', { name: /^Problems/ }).click();
  const list = page.getByRole('region', { name: 'Problems' });
  if (minor < 12) await list.getByRole('button', { name: /"batched" is unknown import symbol/ }).waitFor();
  else await list.getByText('No problems.').waitFor();
  expect(await list.getByRole('button', { name: /accumulate/ }).count()).toBe(0);
  if (minor >= 14) return;
  const refused = page.waitForResponse(
    async (answer) => answer.url().endsWith('/validate') && !((await answer.json()) as { valid: boolean }).valid,
  );
  await studio.replaceCode(tString);
  await refused;
  await list.getByRole('button', { name: /require Python 3\.14/ }).waitFor();
  await expect.poll(() => list.getByRole('button', { name: /SyntaxError/ }).count()).toBe(0);
});

test('syntax that only a newer Python has is marked by a server that does not say its version, and a slip once', async () => {
  // If the interpreter's name has no version, the service may accept syntax that the interpreter rejects.
  await page.route('**/api/v1/capabilities', async (route) => {
    const response = await route.fetch();
    const known = (await response.json()) as Capabilities;
    for (const { engines } of known.languages) for (const engine of engines ?? []) delete engine.version;
    await route.fulfill({ response, json: known });
  });
  await open('newer', { 'main.py': tString });
  await editing.pythonReady();
  const known = (await must(atelier, 'POST', '/validate', { language: 'python', code: tString })) as { valid: boolean };
  await page.getByRole('button', { name: /^Problems/ }).click();
  const list = page.getByRole('region', { name: 'Problems' });
  const ofTheServer = list.getByRole('button', { name: /SyntaxError/ });
  if (known.valid) await list.getByText('No problems.').waitFor();
  else await ofTheServer.waitFor();
  // The service reports more here than the server, but the server's result wins.
  const validated = page.waitForResponse((answer) => answer.url().endsWith('/validate'));
  await studio.replaceCode('def main(input, ctx):\n    return (\n');
  expect(((await (await validated).json()) as { valid: boolean }).valid).toBe(false);
  await list.getByRole('button', { name: /was not closed/ }).waitFor();
  await expect.poll(() => ofTheServer.count()).toBe(0);
  await studio.replaceCode('def main(input, ctx):\n    return {}\n');
  await list.getByText('No problems.').waitFor();
});

test('a name of another file is suggested, and its import is added', async () => {
  await open('adds-imports', {
    'main.py': 'def main(input, ctx):\n    pass\n    return {}\n',
    'rates.py': 'def exchange_rate(currency: str) -> float:\n    return 1.0\n',
  });
  await editing.pythonReady();
  await editing.retype(2, 'exchange_r');
  await editing.suggests('exchange_rate');
  await studio.saving(() => page.keyboard.press('Enter'));
  await expect
    .poll(async () => {
      const { draft } = (await must(atelier, 'GET', '/code-agents/adds-imports')) as {
        draft: { files: Record<string, string> };
      };
      return draft.files['main.py'];
    })
    .toMatch(/^from rates import exchange_rate\n/);
});
