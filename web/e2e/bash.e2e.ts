// Bash in the editor: the server parses and formats it in its sandbox.
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
  await must(atelier, 'POST', '/code-agents', { name, language: 'bash', entrypoint: 'main.sh', files });
  await studio.openAgent(name);
}

test('A15 a script without its end is marked by the server', async () => {
  await open('open-end', { 'main.sh': 'echo 1\nif true; then\n  echo 2\n' });
  await editing.hasMark(/must end with/);
});

test('A15 problems of all files are listed, and lead to their places with the keyboard', async () => {
  await open('listed', { 'main.sh': 'echo 1\nif true; then\n  echo 2\n', 'lib/other.sh': 'echo "open\n' });
  await page.getByRole('button', { name: 'Problems: 2 errors, 0 warnings' }).click();
  const list = page.getByRole('region', { name: 'Problems' }).getByRole('button', { name: /Error/ });
  await expect.poll(() => list.count()).toBe(2);
  await list.first().focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => list.nth(1).evaluate((row) => row === document.activeElement)).toBe(true);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'other.sh', selected: true }).waitFor();
  await editing.hasMark(/without closing quote/);
});

test('A21 a script is formatted, and a broken script stays unchanged', async () => {
  await open('formats', { 'main.sh': 'if true;then\necho "$INPUT"   # all\n      fi\n' });
  await editing.at(1);
  await page.keyboard.press('Shift+Alt+F');
  const code = async () => (await atelier.api('GET', '/api/v1/code-agents/formats')).body;
  const formatted = 'if true; then\n  echo "$INPUT" # all\nfi\n';
  await expect.poll(code).toMatchObject({ draft: { files: { 'main.sh': formatted } } });
  await studio.replaceCode('if true; then\n');
  await page.keyboard.press('Shift+Alt+F');
  await page.getByText(/Not formatted, line 1/).waitFor();
  expect(await code()).toMatchObject({ draft: { files: { 'main.sh': 'if true; then\n' } } });
});
