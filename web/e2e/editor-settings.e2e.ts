// Editor settings apply at once and persist.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

const long = `def main(input, ctx):\n    return "${'word '.repeat(80)}"\n`;

test('settings of the editor hold at once and after a reload', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'liked',
    language: 'python',
    entrypoint: 'main.py',
    files: { 'main.py': long },
  });
  await studio.openAgent('liked');
  const text = page.getByText('def', { exact: true }).first();
  const size = () => text.evaluate((span) => getComputedStyle(span).fontSize);
  const rows = () => page.locator('.view-line').count();
  await expect.poll(size).toBe('13px');
  await expect.poll(rows).toBe(3);
  await page.getByText('Python: ready').waitFor();

  await page.getByRole('button', { name: 'Editor settings' }).click();
  const dialog = page.getByRole('dialog', { name: 'Editor settings' });
  await dialog.getByRole('spinbutton', { name: 'Font size' }).fill('18');
  await dialog.getByRole('checkbox', { name: 'Wrap long lines' }).check();
  await dialog.getByRole('combobox', { name: 'Indentation' }).selectOption('8 spaces');
  await dialog.getByRole('checkbox', { name: 'Language service for Python' }).uncheck();
  await expect.poll(size).toBe('18px');
  await expect.poll(rows).toBeGreaterThan(3);
  await page.getByText('Python: off').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();

  await page.reload();
  await studio.editorReady();
  await expect.poll(size).toBe('18px');
  await expect.poll(rows).toBeGreaterThan(3);
  await page.getByText('Python: off').waitFor();
  await studio.editor.focus();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByText(/^Ln 2, Col 9/).waitFor();
});
