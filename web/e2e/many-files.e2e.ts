// An agent with 500 files, including long and right-to-left names.
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

const arabic = 'تقرير-المبيعات.txt';
const long = `${'a-very-long-name-'.repeat(12)}.txt`;
const said = 'مرحبا بالعالم';

async function open(name: string): Promise<void> {
  const files: Record<string, string> = {
    'main.py': `def main(input, ctx):\n    print("${said}")\n    print("before ${said} after")\n    return "${said}"\n`,
    [arabic]: said,
    [long]: 'long',
  };
  for (let n = 0; Object.keys(files).length < 500; n++)
    files[`data/group${n % 20}/part${String(n).padStart(3, '0')}.txt`] = `part ${n}\n`;
  await must(atelier, 'POST', '/code-agents', { name, language: 'python', entrypoint: 'main.py', files });
  await studio.openAgent(name);
}

const tree = (): Locator => page.getByRole('tree', { name: 'Files' });
const focusedPath = (): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.getAttribute('data-path'));
const row = (name: string): Locator => tree().getByRole('treeitem', { name, exact: true });

test('five hundred files are walked, found, made and edited', async () => {
  await open('crowded');
  // Only the visible rows and the focused row are drawn, out of 521 with folders.
  const drawn = (): Promise<number> => tree().getByRole('treeitem').count();
  await row('group0').waitFor();
  expect(await drawn()).toBeLessThan(80);
  expect(await row('group0').getAttribute('aria-setsize')).toBe('20');
  await row('main.py entry').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('p');
  await expect.poll(focusedPath).toContain('part');
  await page.keyboard.press('End');
  await expect.poll(focusedPath).toBe(arabic);
  expect(await row(arabic).getAttribute('aria-posinset')).toBe('4');
  expect(await drawn()).toBeLessThan(80);
  // A focused row that is scrolled away stays in the page, and arrow keys continue from it.
  await tree().evaluate((element) => element.scrollTo(0, 0));
  await row('group0').waitFor();
  await expect.poll(focusedPath).toBe(arabic);
  await page.keyboard.press('ArrowUp');
  await expect.poll(focusedPath).toBe('main.py');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: `Code editor, ${arabic}` }).waitFor({ state: 'attached' });
  await studio.replaceCode('changed');
  await page.keyboard.press('ControlOrMeta+P');
  await page.getByRole('dialog').getByRole('combobox').fill('part477');
  await page
    .getByRole('dialog')
    .getByRole('option', { name: /part477\.txt/, selected: true })
    .waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'part477.txt' }).waitFor();
  await page.getByRole('button', { name: 'Search in files' }).click();
  await page.getByRole('searchbox', { name: 'Search in files' }).fill('part 477');
  await page.getByRole('list', { name: 'Lines found' }).getByRole('button').waitFor();
  await page.getByRole('button', { name: 'Search in files' }).click();
  // The server rejects one more file, and the draft shows the error.
  await page.getByRole('button', { name: 'New file' }).click();
  await page.getByRole('textbox', { name: 'Path of the new file' }).fill('extra.txt');
  await page.keyboard.press('Enter');
  await page.getByText('must have at most 500 files').first().waitFor();
});

test('a file far down is renamed and dragged to where it was not drawn', async () => {
  await open('moved');
  await row('main.py entry').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('F2');
  const field = page.getByRole('textbox', { name: `New path of ${arabic}` });
  await field.fill('data/group0/aaa.txt');
  await page.keyboard.press('Enter');
  await expect.poll(focusedPath).toBe('data/group0/aaa.txt');
  await page.keyboard.press('Home');
  await expect.poll(focusedPath).toBe('data');
  await row('aaa.txt').dragTo(row('data'));
  // The file now stands after the folders, out of view. Typing its first letter finds it.
  await row('aaa.txt').waitFor({ state: 'detached' });
  await row('data').focus();
  await page.keyboard.press('a');
  await expect.poll(focusedPath).toBe('data/aaa.txt');
  expect(await row('aaa.txt').getAttribute('aria-level')).toBe('2');
  expect(await violations(page)).toEqual([]);
});

test('names and output from right to left, and long ones, keep their places', async () => {
  await open('ways');
  const left = (text: Locator): Promise<number> =>
    text.evaluate((e) => {
      const range = document.createRange();
      range.selectNodeContents(e);
      return Math.round(range.getBoundingClientRect().left);
    });
  const name = (file: string): Locator => row(file).getByText(file, { exact: true });
  await page.evaluate(() => document.fonts.ready);
  await tree().evaluate((element) => element.scrollTo(0, element.scrollHeight));
  expect(await left(name(arabic))).toBe(await left(row('main.py entry').getByText('main.py', { exact: true })));
  const panel = await tree().boundingBox();
  const wide = await row(long).boundingBox();
  expect(wide && panel && wide.x + wide.width <= panel.x + panel.width).toBe(true);
  expect(await row(long).getAttribute('title')).toBe(long);

  await studio.start();
  await studio.ended(/^Succeeded ·/);
  const console = await studio.panel('Console');
  await console.getByRole('button', { name: 'Copy the output' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${said}\nbefore ${said} after`);
  const line = console.getByRole('listitem').filter({ hasText: 'before' });
  const number = await line.getByText('2', { exact: true }).boundingBox();
  const text = await line.getByText(said).boundingBox();
  expect(number && text && number.x + number.width <= text.x).toBe(true);
  expect(await studio.result()).toBe(said);
  expect(await violations(page)).toEqual([]);
});
