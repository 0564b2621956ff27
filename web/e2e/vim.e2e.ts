// Vim key bindings: a separate script; the Studio's shortcuts take precedence.
import { expect, test } from 'vitest';
import type { Page, Response } from 'playwright-core';
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

const code = 'export function main() {\n  return "first";\n}\n';

async function open(name: string): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'javascript',
    entrypoint: 'main.js',
    files: { 'main.js': code, 'other.js': 'export {};\n' },
  });
  await studio.openAgent(name);
}

async function choose(keys: 'Default' | 'Vim'): Promise<void> {
  await page.getByRole('button', { name: 'Editor settings' }).click();
  const dialog = page.getByRole('dialog', { name: 'Editor settings' });
  await dialog.getByRole('combobox', { name: 'Key bindings' }).selectOption(keys);
  // Escape closes the dialog in every keymap.
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
}

const mode = () => page.getByRole('status', { name: 'Vim mode' });
const inMode = (name: string) => mode().filter({ hasText: name }).waitFor();

async function type(keys: string): Promise<void> {
  await studio.editor.focus();
  await page.keyboard.type(keys);
}

async function text(name: string): Promise<string | undefined> {
  const agent = (await must(atelier, 'GET', `/code-agents/${name}`)) as { draft: { files: Record<string, string> } };
  return agent.draft.files['main.js'];
}

test('keys of Vim are fetched when they are chosen, edit, and go again', async () => {
  // The script is found by text that only the keymap contains, because the settings dialog is also fetched.
  const fetched: Promise<boolean>[] = [];
  const look = (answer: Response): void => {
    if (/\/assets\/[^/]*\.js$/.test(answer.url()))
      fetched.push(answer.text().then((code) => code.includes('vim-mode-change')));
  };
  page.on('response', look);
  const keymaps = async (): Promise<number> => (await Promise.all(fetched)).filter(Boolean).length;
  await open('modal');
  await page.getByRole('button', { name: 'Editor settings' }).click();
  const settings = page.getByRole('dialog', { name: 'Editor settings' });
  await settings.waitFor();
  expect([await mode().count(), await keymaps()]).toEqual([0, 0]);
  await page.keyboard.press('Escape');
  await settings.waitFor({ state: 'hidden' });
  await choose('Vim');
  await inMode('Normal');
  expect(await keymaps()).toBe(1);
  page.off('response', look);

  // Deletes a line, undoes it, changes a word, shifts a line.
  await type('ggdd');
  await expect.poll(() => page.locator('.view-line').count()).toBe(3);
  await type('u');
  await expect.poll(() => page.locator('.view-line').count()).toBe(4);
  await type('j^cw');
  await inMode('Insert');
  await page.keyboard.type('throw');
  await page.keyboard.press('Escape');
  await inMode('Normal');
  await type('V');
  await inMode('Visual, lines');
  await type('>');
  await inMode('Normal');
  await type('>>');
  await type(':w\n');
  await expect.poll(() => text('modal')).toBe('export function main() {\n      throw "first";\n}\n');
  await studio.editor.focus();
  expect(await violations(page)).toEqual([]);

  await page.reload();
  await studio.editorReady();
  await inMode('Normal');
  await choose('Default');
  await mode().waitFor({ state: 'detached' });
  await studio.editor.focus();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.type('dd');
  await expect.poll(() => text('modal')).toContain('ddexport');
});

test('the commands of the Studio come before the keys of Vim', async () => {
  await open('first');
  await choose('Vim');
  await inMode('Normal');
  await studio.start();
  await studio.ended(/^Succeeded/);
  await studio.editor.focus();
  await page.keyboard.press('ControlOrMeta+K');
  const palette = page.getByRole('combobox', { name: 'Command palette' });
  await palette.waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });

  await type('A');
  await inMode('Insert');
  await page.keyboard.type(' // more');
  await page.keyboard.press('ControlOrMeta+S');
  await studio.saved();
  await expect.poll(() => text('first')).toContain('{ // more\n');
  await inMode('Insert');
  await page.keyboard.press('Escape');
  await inMode('Normal');

  // F6 leaves the editor in every mode.
  await page.keyboard.press('F6');
  await expect.poll(() => studio.editor.evaluate((box) => box === document.activeElement)).toBe(false);
});

test('Vim asks beneath the editor, by name, and Escape leads back into it', async () => {
  await open('asked');
  await choose('Vim');
  await inMode('Normal');
  await type('/first');
  const search = page.getByRole('textbox', { name: 'Search with Vim' });
  await expect.poll(() => search.inputValue()).toBe('first');
  await page.keyboard.press('Enter');
  await search.waitFor({ state: 'detached' });
  await page.getByText(/^Ln 2, Col 11/).waitFor();

  await type(':');
  const command = page.getByRole('textbox', { name: 'Vim command' });
  await command.waitFor();
  await page.keyboard.press('Escape');
  await command.waitFor({ state: 'detached' });
  await expect.poll(() => studio.editor.evaluate((box) => box === document.activeElement)).toBe(true);

  await type(':%s/first/second/\n');
  await expect.poll(() => text('asked')).toContain('"second"');
  await page.getByRole('treeitem', { name: 'other.js' }).dblclick();
  await page.getByRole('tab', { name: 'other.js' }).waitFor();
  await type(':q\n');
  await page.getByRole('tab', { name: 'other.js' }).waitFor({ state: 'detached' });
});

test('a keymap that failed to load shows an error until another is chosen, and can be retried', async () => {
  await open('lost');
  await page.route(/\/assets\/openVim-/, (route) => route.abort());
  await choose('Vim');
  const told = page.getByRole('alert').filter({ hasText: 'The Vim key bindings could not be loaded.' });
  await told.waitFor();
  await choose('Default');
  await told.waitFor({ state: 'detached' });
  await page.unroute(/\/assets\/openVim-/);
  await choose('Vim');
  await inMode('Normal');
});
