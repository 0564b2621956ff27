// Projects: a program proposes changes, and a person accepts one file and rejects another.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('a person accepts one file of a proposed change and rejects another', async () => {
  const session = await signIn(browser, atelier);
  const { page } = session;
  const folder = mkdtempSync(join(tmpdir(), 'atelier-project-'));
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
  writeFileSync(join(folder, 'b.txt'), 'x\n');
  execFileSync('tar', ['-czf', join(folder, 'shop.tar.gz'), '-C', folder, 'a.txt', 'b.txt']);
  const archive = readFileSync(join(folder, 'shop.tar.gz')).toString('base64');
  rmSync(folder, { recursive: true });
  await page.goto('/studio/projects');
  await page.getByText('There is no project yet.').waitFor();
  expect(await violations(page)).toEqual([]);
  const imported = await page.evaluate(async (text) => {
    const body = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const headers = { 'Content-Type': 'application/gzip' };
    return (await fetch('/api/v1/projects/shop/import', { method: 'POST', body, headers })).status;
  }, archive);
  expect(imported).toBe(200);
  const run = await atelier.api('POST', '/api/v1/execute', {
    language: 'javascript',
    code: `export default async (input, ctx) => {
      await ctx.writeFile('a.txt', 'one\\nTWO\\n');
      await ctx.writeFile('b.txt', 'y\\n');
      await ctx.submitResult('Louder', ['a.txt']);
    }`,
    capabilities: { files: { project: 'shop', write: true } },
  });
  expect(run.body).toMatchObject({ success: true });
  await page.reload();
  await page.getByRole('link', { name: 'shop' }).click();
  await page.getByRole('link', { name: 'Louder' }).click();
  await page.getByRole('region', { name: 'The proposed change of a.txt' }).getByText('+TWO').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 900 });
  for (const button of await page.getByRole('button', { name: /Accept|Reject/ }).all()) {
    const box = await button.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 390)).toBeLessThanOrEqual(390);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'Accept a.txt' }).click();
  await page.getByRole('region', { name: 'a.txt', exact: true }).getByText('accepted').waitFor();
  await page.getByRole('button', { name: 'Reject b.txt' }).click();
  await page.getByRole('region', { name: 'b.txt', exact: true }).getByText('rejected').waitFor();
  const file = async (path: string) => (await atelier.api('GET', `/api/v1/projects/shop/file?path=${path}`)).body;
  expect(await file('a.txt')).toMatchObject({ content: 'one\nTWO\n' });
  expect(await file('b.txt')).toMatchObject({ content: 'x\n' });
  for (const scheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const shots = process.env.ATELIER_TEST_SHOTS;
      if (shots !== undefined) await page.screenshot({ path: join(shots, `overlay-${String(width)}-${scheme}.png`) });
    }
  await page.goto('/studio/projects/shop');
  await page.getByRole('table', { name: 'History' }).getByText('Louder').waitFor();
  expect(await violations(page)).toEqual([]);
  await session.close();
});
