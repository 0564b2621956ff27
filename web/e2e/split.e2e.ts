// Two editors next to each other: they show different tabs of one draft.
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

async function open(name: string): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'typescript',
    entrypoint: 'main.ts',
    files: {
      'main.ts': "import { warm } from './lib/util';\n\nexport default () => warm(1);\n",
      'lib/util.ts': 'export const warm = (n: number): boolean => n > 0;\n',
      'notes.md': 'First line\n',
    },
  });
  await studio.openAgent(name);
}

const side = (name: 'First' | 'Second'): Locator => page.getByRole('region', { name: `${name} editor` });
const editorIn = (name: 'First' | 'Second'): Locator => side(name).getByRole('textbox', { name: /^Code editor/ });
const tabIn = (name: 'First' | 'Second', title: string, selected?: boolean): Locator =>
  side(name).getByRole('tab', { name: title, ...(selected !== undefined && { selected }) });
const row = (name: string): Locator =>
  page.getByRole('tree', { name: 'Files' }).getByRole('treeitem', { name, exact: true });

async function filesOf(name: string): Promise<Record<string, unknown>> {
  const { draft } = (await must(atelier, 'GET', `/code-agents/${name}`)) as { draft: { files: object } };
  return { ...draft.files };
}

async function openBeside(name: string): Promise<void> {
  await row(name).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Open in the second editor' }).click();
  await editorIn('Second').waitFor({ state: 'attached' });
}

test('two files are open at once, each keystroke goes to its editor, and a reload keeps both', async () => {
  await open('beside');
  await openBeside('util.ts');
  await tabIn('First', 'main.ts', true).waitFor();
  await tabIn('Second', 'util.ts', true).waitFor();

  await editorIn('Second').focus();
  await studio.saving(async () => {
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.type('// second');
    await page.keyboard.press('Enter');
  });
  await editorIn('First').focus();
  await studio.saving(async () => {
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.type('// first');
    await page.keyboard.press('Enter');
  });
  await expect
    .poll(() => filesOf('beside'))
    .toMatchObject({
      'main.ts': expect.stringMatching(/^\/\/ first\n/) as unknown,
      'lib/util.ts': expect.stringMatching(/^\/\/ second\n/) as unknown,
    });
  await studio.hasNoErrorMarks();

  await page.reload();
  await tabIn('First', 'main.ts', true).waitFor();
  await tabIn('Second', 'util.ts', true).waitFor();
  await editorIn('Second').waitFor({ state: 'attached' });
  expect(await violations(page)).toEqual([]);
});

test('one file in both editors has one text', async () => {
  await open('twice');
  await page.getByRole('button', { name: 'Split editor' }).click();
  await tabIn('Second', 'main.ts', true).waitFor();
  await editorIn('Second').focus();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.type('// seen in both');
  await expect.poll(() => side('First').getByText('// seen in both').count()).toBeGreaterThan(0);
});

test('files open in the editor with the focus, and its position is in the status line', async () => {
  await open('focused');
  await page.keyboard.press('ControlOrMeta+\\');
  await tabIn('Second', 'main.ts', true).waitFor();
  await row('notes.md').click();
  await tabIn('Second', 'notes.md', true).waitFor();
  await editorIn('Second').focus();
  await page.keyboard.press('End');
  await page.getByText('Ln 1, Col 11').waitFor();
  await editorIn('First').focus();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.getByText('Ln 1, Col 1', { exact: true }).waitFor();
  await row('util.ts').click();
  await tabIn('First', 'util.ts', true).waitFor();
  await expect.poll(() => tabIn('Second', 'util.ts').count()).toBe(0);
});

test('the second editor closes with its last tab or its button, and the first takes its tabs', async () => {
  await open('closed');
  await openBeside('util.ts');
  await editorIn('Second').focus();
  await page.keyboard.press('Alt+W');
  await side('Second').waitFor({ state: 'detached' });
  await expect.poll(() => new URL(page.url()).searchParams.get('beside')).toBeNull();
  await expect.poll(() => studio.editor.evaluate((e) => e === document.activeElement)).toBe(true);

  await openBeside('util.ts');
  await side('Second').getByRole('button', { name: 'Close the second editor' }).click();
  await side('Second').waitFor({ state: 'detached' });

  await openBeside('util.ts');
  await editorIn('First').focus();
  await page.keyboard.press('Alt+W');
  await side('Second').waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'util.ts', selected: true }).waitFor();
});

test('the keyboard goes to the second editor and changes the widths', async () => {
  await open('keys');
  await openBeside('util.ts');
  await side('Second').focus();
  await page.keyboard.press('Shift+F6');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('editor');
  await page.keyboard.press('F6');
  await expect.poll(() => side('Second').evaluate((region) => region.contains(document.activeElement))).toBe(true);
  const line = page.getByRole('separator', { name: 'Width of the first editor' });
  await expect.poll(() => line.getAttribute('aria-valuenow')).toBe('50');
  await line.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => line.getAttribute('aria-valuenow')).toBe('20');
});

test('a renamed file keeps its tab in the second editor', async () => {
  await open('moved');
  await openBeside('util.ts');
  await row('util.ts').press('F2');
  const field = page.getByRole('textbox', { name: 'New path of lib/util.ts' });
  await field.fill('lib/tools.ts');
  await field.press('Enter');
  await tabIn('Second', 'tools.ts', true).waitFor();
  await tabIn('First', 'main.ts', true).waitFor();
});

test('a file renamed on a phone keeps its tab in the second editor', async () => {
  await open('narrow');
  await openBeside('util.ts');
  await page.setViewportSize({ width: 390, height: 844 });
  await side('Second').waitFor({ state: 'detached' });
  await page.getByRole('navigation', { name: 'Panes' }).getByRole('button', { name: 'Agent list' }).click();
  await row('util.ts').press('F2');
  const field = page.getByRole('textbox', { name: 'New path of lib/util.ts' });
  await field.fill('lib/tools.ts');
  await field.press('Enter');
  await row('tools.ts').waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
  await tabIn('Second', 'tools.ts', true).waitFor();
  await tabIn('First', 'main.ts', true).waitFor();
});

test('a phone shows one editor', async () => {
  await open('phone');
  await openBeside('util.ts');
  await page.setViewportSize({ width: 390, height: 844 });
  await side('Second').waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'main.ts', selected: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Split editor' }).count()).toBe(0);
});
