// Files of an agent: create, rename with imports, move, upload, download, search and delete.
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { hold } from './kit/hold';
import { refuse } from './kit/refuse';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function open(name: string, more: Record<string, unknown> = {}): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'typescript',
    entrypoint: 'main.ts',
    files: {
      'main.ts': "import { warm } from './lib/util';\n\nexport default () => warm(1);\n",
      'lib/util.ts': 'export const warm = (n: number): boolean => n > 0;\n',
    },
    ...more,
  });
  await studio.openAgent(name);
}

const tree = (): Locator => page.getByRole('tree', { name: 'Files' });
const row = (name: string): Locator => tree().getByRole('treeitem', { name, exact: true });
const tab = (name: string): Locator => page.getByRole('tablist', { name: 'Open files' }).getByRole('tab', { name });

async function filesOf(name: string): Promise<Record<string, unknown>> {
  const { draft } = (await must(atelier, 'GET', `/code-agents/${name}`)) as {
    draft: { files: Record<string, unknown> };
  };
  return draft.files;
}

test('A16 a file is renamed with F2, and tabs and imports follow', async () => {
  await open('renamed');
  await row('util.ts').click();
  await tab('util.ts').waitFor();
  await row('util.ts').press('F2');
  const field = page.getByRole('textbox', { name: 'New path of lib/util.ts' });
  await field.fill('lib/tools.ts');
  await field.press('Enter');
  await tab('tools.ts').waitFor();
  await expect.poll(() => row('tools.ts').evaluate((e) => e === document.activeElement)).toBe(true);
  await expect
    .poll(() => filesOf('renamed'))
    .toEqual({
      'main.ts': expect.stringContaining("from './lib/tools'") as unknown,
      'lib/tools.ts': expect.stringContaining('warm') as unknown,
    });
  await row('main.ts entry').click();
  await studio.saved();
  await studio.hasNoErrorMarks();
  await studio.start();
  await studio.ended(/^Succeeded ·/);
});

test('a file is dragged into a folder and out of it', async () => {
  await open('dragged', {
    files: { 'main.ts': "import './a';\nexport default () => 1;\n", 'a.ts': '', 'lib/b.ts': '' },
  });
  await row('a.ts').dragTo(row('lib'));
  await expect
    .poll(async () => Object.keys(await filesOf('dragged')).sort())
    .toEqual(['lib/a.ts', 'lib/b.ts', 'main.ts']);
  expect(await filesOf('dragged')).toMatchObject({ 'main.ts': expect.stringContaining("'./lib/a'") as unknown });
  await row('b.ts').dragTo(row('main.ts entry'));
  await expect.poll(async () => Object.keys(await filesOf('dragged')).sort()).toEqual(['b.ts', 'lib/a.ts', 'main.ts']);
});

test('a file from outside is taken, also after a drag that never said it was over', async () => {
  await open('left', { files: { 'main.ts': 'export default () => 1;\n', 'a.ts': '', 'lib/b.ts': '' } });
  await row('a.ts').evaluate((item) =>
    item.dispatchEvent(new DragEvent('dragstart', { bubbles: true, dataTransfer: new DataTransfer() })),
  );
  await row('lib').evaluate((item) => {
    const data = new DataTransfer();
    data.items.add(new File(['1'], 'c.json'));
    item.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
  });
  await expect
    .poll(async () => Object.keys(await filesOf('left')).sort())
    .toEqual(['a.ts', 'lib/b.ts', 'lib/c.json', 'main.ts']);
});

test('files are uploaded and downloaded, and what is no text is shown as such', async () => {
  await open('carried');
  await page.getByLabel('Files to upload').setInputFiles([
    { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(dot, 'base64') },
    { name: 'words.txt', mimeType: 'text/plain', buffer: Buffer.from('hé\n') },
  ]);
  await row('dot.png binary').waitFor();
  const view = page.getByRole('region', { name: 'dot.png' });
  await view.getByText(/dot\.png is binary, \d+ B\./).waitFor();
  await expect.poll(() => view.getByRole('img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
  await page.getByText(/^Ln \d+, Col/).waitFor({ state: 'detached' });
  await expect.poll(() => filesOf('carried')).toMatchObject({ 'dot.png': { base64: dot }, 'words.txt': 'hé\n' });

  const saved = page.waitForEvent('download');
  await view.getByRole('button', { name: 'Download' }).click();
  expect((await readFile(await (await saved).path())).toString('base64')).toBe(dot);

  await page
    .getByLabel('Files to upload')
    .setInputFiles([{ name: 'words.txt', mimeType: 'text/plain', buffer: Buffer.from('new') }]);
  await page.getByRole('dialog', { name: 'Replace words.txt?' }).getByRole('button', { name: 'Replace' }).click();
  await expect.poll(() => filesOf('carried')).toMatchObject({ 'words.txt': 'new' });
});

test('the tree is used with the keyboard alone', async () => {
  await open('typed');
  await row('main.ts entry').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  await expect.poll(focused).toBe('util.ts');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(focused).toBe('lib');
  await page.keyboard.press('ArrowLeft');
  await row('util.ts').waitFor({ state: 'hidden' });
  await page.keyboard.press('m');
  await expect.poll(focused).toBe('main.ts entry');
  await row('lib').focus();
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: 'Delete lib?' }).getByRole('button', { name: 'Delete' }).press('Enter');
  await row('lib').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'New file' }).press('Enter');
  const field = page.getByRole('textbox', { name: 'Path of the new file' });
  await field.fill('main.ts');
  await field.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'main.ts already exists.' }).waitFor();
  await field.fill('deep/er/notes.md');
  await field.press('Enter');
  await row('notes.md').waitFor();
  await tab('notes.md').waitFor();
});

test('the menu of a row opens by the other button and by the keyboard, and the row has the focus after', async () => {
  await open('asked');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  const menu = page.getByRole('menu');
  await row('util.ts').click({ button: 'right' });
  await menu.getByRole('menuitem', { name: 'Make entrypoint' }).waitFor();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  await expect.poll(focused).toBe('util.ts');
  await page.keyboard.press('ContextMenu');
  await menu.waitFor();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  await expect.poll(focused).toBe('util.ts'); // the focus returns shortly after the menu closes
  await page.keyboard.press('ArrowUp');
  await expect.poll(focused).toBe('lib');
  await page.keyboard.press('Shift+F10');
  await menu.getByRole('menuitem', { name: /^Rename or move/ }).click();
  await page.getByRole('textbox', { name: 'New path of lib' }).waitFor();

  await must(atelier, 'POST', '/code-agents/asked/versions', { version: '1.0.0', changelog: '' });
  await page.goto('/studio/a/asked@1.0.0');
  await row('lib').click({ button: 'right' });
  await row('util.ts').click({ button: 'right' });
  await menu.getByRole('menuitem', { name: 'Download' }).waitFor();
  expect(await page.getByRole('button', { name: 'Actions for lib', exact: true }).count()).toBe(0); // folders of a version have no actions
});

test('deleting the entrypoint or its folder shows a warning', async () => {
  await open('headless', {
    entrypoint: 'src/main.ts',
    files: { 'src/main.ts': 'export default () => 1;\n', 'notes.md': '' },
  });
  await row('main.ts entry').press('Delete');
  const asked = page.getByRole('dialog');
  await asked.getByText('src/main.ts is the entrypoint').waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await row('src').press('Delete');
  await asked.getByText('src/main.ts is the entrypoint').waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await row('notes.md').press('Delete');
  await asked.getByText('Removed from the draft.').waitFor();
  expect(await asked.getByText('is the entrypoint').count()).toBe(0);
});

test('a text is found in every file and leads to its line', async () => {
  await open('searched');
  await page.keyboard.press('ControlOrMeta+Shift+F');
  await page.getByRole('searchbox', { name: 'Search in files' }).fill('warm(');
  await page.getByText('1 line in 1 file').waitFor();
  await page.getByRole('searchbox', { name: 'Search in files' }).fill('WARM');
  await page.getByText('3 lines in 2 files').waitFor();
  await page.getByRole('list', { name: 'Lines found' }).getByRole('button', { name: /^3/ }).click();
  await page.getByText(/^Ln 3, Col/).waitFor();
  await page.getByRole('button', { name: 'Back to the files' }).click();
  await row('util.ts').waitFor();
});

test('every match of a line is marked', async () => {
  await open('marked', { files: { 'main.ts': 'export default () => ["one", "one", "One"];\n' } });
  await page.keyboard.press('ControlOrMeta+Shift+F');
  await page.getByRole('searchbox', { name: 'Search in files' }).fill('one');
  const found = page.getByRole('list', { name: 'Lines found' });
  await expect.poll(() => found.locator('mark').allInnerTexts()).toEqual(['one', 'one', 'One']);
});

async function makeMany(name: (n: number) => string): Promise<void> {
  const agent = { language: 'javascript', code: 'export default () => 1;\n' };
  for (let n = 0; n < 60; n++) await must(atelier, 'POST', '/code-agents', { ...agent, name: name(n) });
}

const current = (): Locator => page.getByRole('region', { name: 'Agents' }).locator('a[aria-current=page]');
/** Reports whether the element is fully visible inside every scrolling ancestor. */
const inSight = (): Promise<boolean> =>
  current().evaluate(
    (link) =>
      new Promise<boolean>((tell) => {
        const watch = new IntersectionObserver(([seen]) => {
          watch.disconnect();
          tell((seen?.intersectionRatio ?? 0) > 0.99);
        });
        watch.observe(link);
      }),
  );

test('the open agent is visible in a long list, however it was opened', async () => {
  const name = (n: number): string => `many-${String(n).padStart(2, '0')}`;
  await makeMany(name);
  for (const n of [40, 59]) {
    await studio.openAgent(name(n));
    await current()
      .filter({ hasText: name(n) })
      .waitFor();
    await expect.poll(inSight).toBe(true);
  }
});

test('the open agent stays in sight when the fonts come after it', async () => {
  const name = (n: number): string => `late-${String(n).padStart(2, '0')}`;
  await makeMany(name);
  const release = await hold(page, '**/*.woff2');
  await page.goto(`/studio/a/${name(40)}`, { waitUntil: 'domcontentloaded' }); // the load event may wait for the fonts
  await studio.editorReady();
  await current()
    .filter({ hasText: name(40) })
    .waitFor();
  await expect.poll(inSight).toBe(true);
  expect(await page.evaluate(() => document.fonts.status)).toBe('loading');
  release();
  await page.evaluate(async () => {
    await document.fonts.ready;
    // New entries move the list in the next frame.
    for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
  });
  expect(await inSight()).toBe(true);
});

test('the next agents that could not be loaded are asked for again, and the keys stay in their list', async () => {
  await makeMany((n) => `paged-${String(n).padStart(2, '0')}`);
  const allow = await refuse(page, '**/code-agents?*cursor=*');
  await page.goto('/studio/?q=paged');
  const main = page.getByRole('main');
  const found = main.getByRole('list', { name: 'Agents found' });
  await expect.poll(() => found.getByRole('listitem').count()).toBe(50);
  const more = main.getByRole('button', { name: 'Show more' });
  await more.click();
  await main.getByRole('alert').filter({ hasText: 'The next ones could not be loaded. Not now.' }).waitFor();
  expect(await more.evaluate((button) => button === document.activeElement)).toBe(true);
  await allow();
  const release = await hold(page, '**/code-agents?*cursor=*');
  await more.press('Enter');
  // A screen reader repeats a message only if another one came in between.
  await main.getByRole('button', { name: 'Loading…' }).waitFor();
  expect(await main.getByRole('alert').count()).toBe(0);
  release();
  await expect.poll(() => found.getByRole('listitem').count()).toBe(60);
  expect([await more.count(), await main.getByRole('alert').count()]).toEqual([0, 0]);
  expect(await found.evaluate((list) => list.closest('section') === document.activeElement)).toBe(true);
});
