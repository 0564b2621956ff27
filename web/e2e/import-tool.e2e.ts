// A pasted tool definition becomes a draft. The error for an invalid definition names its field.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';

let atelier: Atelier;
let browser: Browser;
beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

test('a function of OpenAI is pasted and becomes a draft with its schema', async () => {
  const { page, close } = await signIn(browser, atelier);
  await page.goto('/studio/');
  await page
    .getByRole('button', { name: /^New agent/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'A tool definition' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import a tool' });
  const text = dialog.getByRole('textbox', { name: 'Definition of the tool' });
  await text.fill('{');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await dialog.getByText('This is not JSON.').waitFor();
  await text.fill('{"type": "function", "function": {"name": "getForecast", "parameters": 7}}');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await dialog.getByText('/tool/function/parameters must be a JSON Schema').waitFor();
  expect(await violations(page)).toEqual([]);
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  await text.fill(JSON.stringify({ type: 'function', function: { name: 'getForecast', parameters } }));
  await dialog.getByLabel('Language of the stub').selectOption('Python');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await page.waitForURL('**/get-forecast**');
  const draft = await atelier.api('GET', '/api/v1/code-agents/get-forecast');
  expect(draft.body).toMatchObject({ draft: { language: 'python', inputSchema: parameters } });
  await close();
});
