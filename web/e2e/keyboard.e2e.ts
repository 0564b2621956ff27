// A keyboard user goes from the first page to an exported tool.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { hold } from './kit/hold';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

const press = (...keys: string[]): Promise<void> =>
  keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
const focused = (): Promise<string> =>
  page.evaluate(() => {
    const e = document.activeElement;
    return e?.getAttribute('aria-label') ?? e?.textContent ?? '';
  });

/** Presses a key until the element has the focus. */
async function until(key: string, name: RegExp): Promise<void> {
  for (let n = 0; n < 80; n++) {
    if (name.test(await focused())) return;
    await press(key);
  }
  throw new Error(`${key} never leads to ${String(name)}; the focus is at ${await focused()}`);
}

test('keys that are pressed before the command palette is loaded go into it', async () => {
  const name = 'quick-keys';
  const files = { 'main.sh': 'echo 1\n' };
  await must(atelier, 'POST', '/code-agents', { name, language: 'bash', entrypoint: 'main.sh', files });
  const release = await hold(page, /\/Palette-[^/]*\.js/);
  await studio.openAgent(name);
  await studio.editor.focus();
  await press('ControlOrMeta+K');
  await page.keyboard.type('theme', { delay: 40 });
  const box = page.getByRole('dialog', { name: 'Command palette' }).getByRole('textbox');
  expect(await box.inputValue()).toBe('theme');
  release();
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  await expect.poll(() => palette.getByRole('combobox').inputValue()).toBe('theme');
  await page.keyboard.type(' x');
  expect(await palette.getByRole('combobox').inputValue()).toBe('theme x');
  await press('Escape');
  await palette.waitFor({ state: 'detached' });
  expect(await focused()).toMatch(/^Code editor/);
  expect(await page.getByText('echo 1').innerText()).toBe('echo\u00a01');
});

test('A48 opens a sample, edits, runs, reads, publishes and exports with keys alone', async () => {
  await studio.home();
  await until('Tab', /^Weather/);
  await press('Enter');
  await studio.editorReady();

  // F6 enters and leaves the editor. Tab inserts a tab there until Ctrl+M is pressed.
  await until('F6', /^Editor$/);
  await until('Tab', /^Code editor, main\.ts/);
  await press('ControlOrMeta+Home');
  await studio.saving(() => page.keyboard.type('// by keys\n'));
  await press('ControlOrMeta+m', 'Tab');
  expect(await focused()).not.toMatch(/^Code editor/);
  await press('ControlOrMeta+m');

  await press('ControlOrMeta+Enter');
  await studio.ended(/^Succeeded ·/);
  await until('F6', /^Output$/);
  await until('Tab', /^Result$/);
  await until('Tab', /^Copy the output as JSON$/);
  await press('Enter');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('"Oslo"');

  await press('ControlOrMeta+Shift+S');
  const publishing = page.getByRole('dialog', { name: /^Publish / });
  await publishing
    .getByRole('region', { name: 'Advice' })
    .or(publishing.getByRole('textbox').first())
    .first()
    .waitFor();
  await until('Tab', /^Publish 1\.0\.0$/);
  await press('Enter');
  const done = page.getByRole('dialog', { name: 'Published 1.0.0' });
  await done.waitFor();
  await press('Escape');
  await done.waitFor({ state: 'hidden' });

  await press('ControlOrMeta+Shift+E');
  const dialog = page.getByRole('dialog', { name: /^Export weather/ });
  await dialog.getByRole('region', { name: 'Manifest' }).waitFor();
  await until('ArrowRight', /^MCP$/);
  await dialog.getByRole('tab', { name: 'MCP', selected: true }).waitFor();
  await until('Tab', /^Copy the manifest$/);
  await press('Enter');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/"inputSchema"/);
  const answer = await atelier.api('GET', '/api/v1/code-agents/weather/versions/1.0.0');
  expect(answer.body).toMatchObject({ version: '1.0.0' });
});
