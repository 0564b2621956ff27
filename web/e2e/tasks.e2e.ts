// Tasks: a person submits a task, reviews its changes by file, and tries it again with feedback.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { must } from './kit/seed';

let atelier: Atelier;
let browser: Browser;
beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

const writes = `export default async ({ feedback = 'y' }, ctx) => {
  await ctx.writeFile('a.txt', 'one\\n' + feedback.toUpperCase() + '\\n');
  await ctx.writeFile('b.txt', feedback + '\\n');
  await ctx.submitResult('Wrote ' + feedback, ['a.txt', 'b.txt']);
}`;

test('a person submits a task, accepts one file and tries the task again with feedback', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-project-'));
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
  writeFileSync(join(folder, 'b.txt'), 'x\n');
  expect(await atelier.cli('project', 'import', 'shop', folder, '--server', atelier.url)).toMatchObject({ code: 0 });
  rmSync(folder, { recursive: true });
  const feedback = { type: 'object', properties: { feedback: { type: 'string' } } };
  for (const [name, code] of [
    ['writer', writes],
    ['broken', `export default () => { throw new Error('The shop is closed.') }`],
  ] as const) {
    const capabilities = { files: { project: '*', write: true } };
    await must(atelier, 'POST', '/code-agents', {
      name,
      language: 'javascript',
      code,
      inputSchema: feedback,
      capabilities,
      safetyFlags: ['file_system'],
    });
    await must(atelier, 'POST', `/code-agents/${name}/versions`, {});
  }
  const session = await signIn(browser, atelier);
  const { page } = session;
  await page.goto('/studio/tasks');
  await page.getByText('There is no task yet.').waitFor();
  expect(await violations(page)).toEqual([]);

  await page.getByRole('button', { name: 'New task' }).click();
  const asked = page.getByRole('dialog', { name: 'New task' });
  await asked.getByLabel('Agent').fill('writer');
  await asked.getByLabel('Project').selectOption('shop');
  await asked.getByLabel('Title').fill('Write loudly');
  await asked.getByRole('button', { name: 'Submit' }).click();
  await page.getByRole('heading', { name: 'Write loudly' }).waitFor();
  await page.getByRole('region', { name: 'The proposed change of a.txt' }).getByText('+Y').waitFor();
  await page.getByRole('list', { name: 'Events' }).getByText('executing').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Accept a.txt' }).click();
  await page.getByRole('region', { name: 'a.txt', exact: true }).getByText('accepted').waitFor();

  await page.getByRole('button', { name: 'Try again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Try again' });
  await dialog.getByLabel('Feedback').fill('louder');
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('region', { name: 'The proposed change of b.txt' }).getByText('+louder').waitFor();

  await must(atelier, 'POST', '/tasks', { agent: 'broken', project: 'shop', title: 'Open the shop' });
  await page.goto('/studio/tasks');
  const failed = page.getByRole('region', { name: 'Failed' }).getByRole('link', { name: /Open the shop/ });
  await failed.getByText('The shop is closed.').waitFor();
  const review = page.getByRole('region', { name: 'Waiting for review' }).getByRole('link', { name: /Write loudly/ });
  await review.focus();
  await page.keyboard.press('ArrowRight');
  expect(await failed.evaluate((card) => card === document.activeElement)).toBe(true);
  await page.keyboard.press('ArrowLeft');
  const shots = process.env.ATELIER_TEST_SHOTS;
  const photograph = async (name: string): Promise<void> => {
    for (const scheme of ['light', 'dark'] as const)
      for (const width of [1440, 390]) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}-${String(width)}-${scheme}.png`) });
      }
  };
  await photograph('board');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'The proposed change of b.txt' }).getByText('+louder').waitFor();
  await photograph('task');
  await page.getByRole('button', { name: 'Accept all' }).click();
  await page.getByRole('region', { name: 'b.txt', exact: true }).getByText('accepted').waitFor();
  expect((await atelier.api('GET', '/api/v1/projects/shop/file?path=b.txt')).body).toMatchObject({
    content: 'louder\n',
  });
  await session.close();
});
