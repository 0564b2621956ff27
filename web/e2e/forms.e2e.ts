// Input form fields that are longer than one line, and the form on a phone.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { violations } from './kit/axe';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

async function open(name: string, code: string, more = {}): Promise<void> {
  const files = { 'main.js': code };
  await must(atelier, 'POST', '/code-agents', { name, language: 'javascript', entrypoint: 'main.js', files, ...more });
  await studio.openAgent(name);
}

test('a moment, a choice of many and a text of several lines are filled in as what they are', async () => {
  const zones = Array.from({ length: 40 }, (_, n) => `zone-${n}`);
  await open('fields', 'export default (input) => input;\n', {
    inputSchema: {
      type: 'object',
      properties: {
        when: { type: 'string', format: 'date-time', title: 'When', default: '2026-03-01T09:30:00Z' },
        day: { type: 'string', format: 'date', title: 'Day' },
        zone: { type: 'string', title: 'Zone', enum: zones },
        note: { type: 'string', title: 'Note', 'x-multiline': true },
        code: { type: 'string', title: 'Code', maxLength: 1_000_000 },
        letter: { type: 'string', title: 'Letter', default: 'Dear Ada,\nhello' },
      },
      required: ['zone'],
    },
  });
  const input = await studio.panel('Input');
  const when = input.getByLabel('When');
  const local = (text: string) => page.evaluate((t) => new Date(t).toISOString().replace('.000Z', 'Z'), text);
  await expect.poll(async () => local(await when.inputValue())).toBe('2026-03-01T09:30:00Z');
  await when.fill('2026-04-02T10:15');
  await input.getByLabel('Day').fill('2026-05-06');
  const zone = input.getByRole('combobox', { name: 'Zone' });
  await zone.fill('zone-400');
  await input.getByRole('textbox', { name: 'Note' }).fill('one\ntwo');
  await input.getByRole('textbox', { name: 'Code' }).fill('def main():\n    return 1\n');
  expect(await input.getByRole('textbox', { name: 'Letter' }).inputValue()).toBe('Dear Ada,\nhello');
  await studio.start();
  // A value outside the enum is rejected before the run and stays in the field.
  await expect.poll(() => zone.getAttribute('aria-invalid')).toBe('true');
  expect(await zone.inputValue()).toBe('zone-400');
  expect(await violations(page)).toEqual([]);
  await zone.fill('zone-17');
  await studio.start();
  await studio.ended(/^Succeeded ·/);
  expect(await studio.result()).toEqual({
    when: await local('2026-04-02T10:15'),
    day: '2026-05-06',
    zone: 'zone-17',
    note: 'one\ntwo',
    code: 'def main():\n    return 1\n',
    letter: 'Dear Ada,\nhello',
  });
});

test('removing the last list item or variable moves the focus to the next control', async () => {
  await open('lists', 'export default (input) => input;\n', {
    inputSchema: { type: 'object', properties: { tags: { type: 'array', title: 'Tags', items: { type: 'string' } } } },
  });
  const focused = (within: Locator): Promise<boolean> => within.evaluate((part) => part === document.activeElement);
  const input = await studio.panel('Input');
  const list = input.getByRole('group', { name: 'Tags' });
  for (let n = 0; n < 2; n++) await list.getByRole('button', { name: 'Add item' }).click();
  const [first, last] = [1, 2].map((n) => list.getByRole('button', { name: `Remove item ${n}` }));
  await last?.press('Enter');
  await last?.waitFor({ state: 'detached' });
  expect(await focused(list)).toBe(true);
  await first?.press('Enter');
  await first?.waitFor({ state: 'detached' });
  expect(await focused(list)).toBe(true);

  const panel = page.getByRole('complementary', { name: 'Configuration' });
  await panel.getByRole('button', { name: /^Environment/ }).click();
  await panel.getByRole('button', { name: 'Add variable' }).click();
  const gone = panel.getByRole('button', { name: /^Remove/ });
  await gone.press('Enter');
  await gone.waitFor({ state: 'detached' });
  expect(await focused(panel.locator('section').filter({ hasText: 'Add variable' }))).toBe(true);
});

test('an item that moves up in a list is shown as what it is', async () => {
  const items = {
    oneOf: [
      { type: 'string', title: 'Text' },
      { type: 'integer', title: 'Number' },
    ],
  };
  await open('mixed', 'export default (input) => input;\n', {
    inputSchema: { type: 'object', properties: { all: { type: 'array', title: 'All', items } } },
  });
  const list = (await studio.panel('Input')).getByRole('group', { name: /^All/ });
  for (let n = 0; n < 2; n++) await list.getByRole('button', { name: 'Add item' }).click();
  await list.getByRole('combobox').first().selectOption('Number');
  await list.getByRole('textbox').last().fill('kept');
  await list.getByRole('button', { name: 'Remove item 1' }).click();
  await expect.poll(() => list.getByRole('combobox').count()).toBe(1);
  expect(await list.getByRole('combobox').locator('option:checked').innerText()).toBe('Text');
  expect(await list.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('kept');
});

test('settings of the editor open from the palette on a phone, and they and the problems are accessible', async () => {
  await open('small', 'export default (input) => undefinedName;\n');
  await page
    .getByRole('button', { name: /problem|error/i })
    .first()
    .click();
  await page
    .getByText(/undefinedName/)
    .last()
    .waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await studio.command('editor settings', 'Editor settings');
  const dialog = page.getByRole('dialog', { name: 'Editor settings' });
  await dialog.getByRole('button', { name: 'Done' }).waitFor();
  const box = await dialog.boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844).toBe(true);
  expect(await violations(page)).toEqual([]);
});
