// A schema as table and as JSON, inferred from real runs, with warnings about breaking changes.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

async function open(name: string, which: 'input' | 'output', more: Record<string, unknown> = {}): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'typescript',
    entrypoint: 'main.ts',
    files: { 'main.ts': 'export default (input: Input) => input;\n' },
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string', minLength: 2 }, units: { enum: ['a', 'b'] } },
      required: ['city'],
    },
    ...more,
  });
  await page.goto(`/studio/a/${name}?schema=${which}`);
  await studio.editorReady();
}

const table = (): Locator => page.getByRole('table', { name: 'Properties of the input schema' });
const schemaOf = async (name: string): Promise<unknown> =>
  ((await must(atelier, 'GET', `/code-agents/${name}`)) as { draft: { inputSchema: unknown } }).draft.inputSchema;

test('a property is added, named, typed and described in the table, and the JSON says the same', async () => {
  await open('tabled', 'input');
  await expect.poll(() => table().getByRole('combobox', { name: 'Type of units' }).inputValue()).toBe('choice');
  const choices = table().getByRole('textbox', { name: 'Choices of units, with commas between' });
  expect(await choices.inputValue()).toBe('a, b');
  await choices.fill('metric, imperial');
  await choices.press('Enter');
  await page.getByRole('button', { name: 'Add property' }).click();
  const name = table().getByRole('textbox', { name: 'Name of property' });
  await name.fill('zip');
  await name.press('Enter');
  await table().getByRole('combobox', { name: 'Type of zip' }).selectOption('integer');
  await table().getByRole('checkbox', { name: 'zip is required' }).check();
  await table().getByRole('textbox', { name: 'Default of zip' }).fill('150');
  await table().getByRole('textbox', { name: 'Description of zip' }).fill('Where it is.');
  await expect
    .poll(() => schemaOf('tabled'))
    .toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', minLength: 2 },
        units: { enum: ['metric', 'imperial'] },
        zip: { type: 'integer', default: 150, description: 'Where it is.' },
      },
      required: ['city', 'zip'],
    });
  const line = page.getByRole('contentinfo').getByText(/^Ln \d/);
  expect(await line.count()).toBe(0); // the table view has none
  await page.getByRole('radio', { name: 'JSON' }).first().click();
  await line.waitFor();
  await studio.replace('{"type": "object", "properties": {"street": {"type": "boolean"}}}');
  await page.getByRole('radio', { name: 'Table' }).click();
  await expect.poll(() => table().getByRole('combobox', { name: 'Type of street' }).inputValue()).toBe('boolean');
  await table().getByRole('button', { name: 'Remove street' }).click();
  await page.getByText('Any input is accepted.').first().waitFor();
  expect(await table().count()).toBe(0); // an empty schema has no table
  await page.keyboard.press('Enter'); // the focus is at the next step
  await table().getByRole('textbox', { name: 'Name of property' }).waitFor();
});

test('a table error appears below its property and stays with it', async () => {
  await open('wrong', 'input', {
    inputSchema: { type: 'object', properties: { days: { type: 'integer' }, hours: { type: 'integer' } } },
  });
  const cell = (name: string): Locator => table().getByRole('textbox', { name: `Default of ${name}` });
  await cell('days').fill('[');
  await cell('days').press('Enter');
  const fault = table().getByText('This is not valid JSON yet.');
  expect(await cell('days').getAttribute('aria-describedby')).toBe(await fault.getAttribute('id'));
  await table().getByRole('button', { name: 'Remove days' }).click();
  await table().getByRole('button', { name: 'Remove days' }).waitFor({ state: 'hidden' });
  expect(await cell('hours').inputValue()).toBe('');
  expect(await fault.count()).toBe(0);
});

test.each([390, 768, 1280])('%i wide, the table of a schema is whole', async (width) => {
  await page.setViewportSize({ width, height: 800 });
  await open(`whole-${String(width)}`, 'input');
  const sheet = page.getByRole('region', { name: 'Input schema as a table' });
  await table().getByRole('row').nth(1).waitFor();
  expect(await sheet.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
  const ground = (e: Element): string => getComputedStyle(e).backgroundColor;
  const unticked = sheet.getByRole('checkbox', { checked: false }).first();
  expect(await unticked.evaluate(ground)).toBe(await sheet.getByRole('textbox').first().evaluate(ground));
  const frame = await sheet.boundingBox();
  for (const field of await sheet.locator('input, select, button').all()) {
    const box = await field.boundingBox();
    expect(box && frame && box.x >= frame.x && box.x + box.width <= frame.x + frame.width).toBe(true);
  }
});

test('schemas are guessed from recorded runs, after a look at the difference', async () => {
  await open('inferred', 'input', {
    inputSchema: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } },
  });
  const guess = page.getByRole('button', { name: 'Guess from runs…' });
  await guess.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Run the agent first.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  for (const input of [{ city: 'Oslo', days: [1, 2.5] }, { city: 'Bergen' }])
    await must(atelier, 'POST', '/code-agents/inferred/execute', { version: 'draft', input });
  await guess.click();
  await dialog.getByText('a guess from 2 samples').waitFor();
  await dialog.getByRole('button', { name: 'Update schemas' }).click();
  await expect
    .poll(() => schemaOf('inferred'))
    .toEqual({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'number' } } },
      required: ['city'],
    });
});

test('A38 a change that forces a major version is said at once, and when publishing', async () => {
  await open('breaking', 'input');
  await must(atelier, 'POST', '/code-agents/breaking/versions', { version: '1.0.0', changelog: '' });
  await page.reload();
  await studio.editorReady();
  const breaks = page.getByRole('status', { name: 'Breaking changes' });
  await page.getByRole('button', { name: 'Add property' }).click();
  const advised = async (bump: string): Promise<void> => {
    await studio.saved();
    await page.getByRole('button', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Publish / });
    await dialog
      .getByRole('region', { name: 'Advice' })
      .getByText(new RegExp(`\\b${bump}\\b`))
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  };
  await expect.poll(async () => JSON.stringify(await schemaOf('breaking'))).toContain('property');
  await advised('minor');
  expect(await breaks.innerText()).toBe('');
  await table().getByRole('checkbox', { name: 'property is required' }).check();
  await breaks.getByText(/^Major: .*property/).waitFor();
  await advised('major');
  await table().getByRole('button', { name: 'Remove property' }).click();
  await expect.poll(() => breaks.innerText()).toBe('');
  await page.getByRole('tab', { name: 'main.ts' }).click();
  await studio.replaceCode('export default (input: Input) => ({ ...input });\n');
  await advised('patch');
});
