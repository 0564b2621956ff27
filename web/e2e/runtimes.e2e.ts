// The runtime "auto" is explained while editing, when publishing and on the version; missing engines are shown.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { startAtelier, type Atelier } from './kit/atelier';
import { launch, signIn } from './kit/browser';
import { Studio } from './kit/studio';

const plain = 'export default function main() {\n  return 1;\n}\n';
const forNode =
  "import { join } from 'node:path';\nexport default function main() {\n  return [join('a', 'b'), process.version.length, new Intl.NumberFormat('de').format(1.5)];\n}\n";

let atelier: Atelier;
let without: Atelier;
let browser: Browser;

beforeAll(async () => {
  [atelier, without, browser] = await Promise.all([startAtelier(), startAtelier('--node', '/nowhere/node'), launch()]);
});
afterAll(async () => {
  await browser.close();
  await Promise.all([atelier.stop(), without.stop()]);
});

test('a program that needs Node gets it, the reason, and the types of Node', async () => {
  const session = await signIn(browser, atelier);
  const { page } = session;
  const studio = new Studio(page);
  const made = await atelier.api('POST', '/api/v1/code-agents', {
    name: 'money',
    language: 'typescript',
    files: { 'main.ts': plain },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  await studio.openAgent('money');
  const reason = page.getByRole('note', { name: 'Runtime' });
  await expect.poll(() => reason.innerText()).toContain('Runs in the fast engine');

  await studio.replaceCode(forNode);
  await expect.poll(() => reason.innerText()).toContain('The Node module "node:path"');
  await studio.hasNoErrorMarks();
  await studio.start();
  await studio.ended(/^Succeeded ·/);
  expect(await studio.result()).toEqual(['a/b', expect.any(Number), '1,5']);

  await page.getByRole('button', { name: 'Publish…' }).click();
  const asking = page.getByRole('dialog', { name: 'Publish money' });
  await expect.poll(() => asking.getByRole('note', { name: 'Runtime' }).innerText()).toContain('Node was chosen');
  await asking.getByRole('button', { name: 'Publish 1.0.0' }).click();
  const done = page.getByRole('dialog', { name: 'Published 1.0.0' });
  await expect.poll(() => done.getByRole('note', { name: 'Runtime' }).innerText()).toContain('(main.ts:1)');
  await done.getByRole('button', { name: 'Done' }).click();
  await page.goto('/studio/a/money@1.0.0');
  await expect.poll(() => reason.innerText()).toContain('Node was chosen');
  await studio.versions('money');
  await page.getByText('Node was chosen').waitFor();
  await page.getByRole('cell', { name: 'node', exact: true }).waitFor();
  await session.close();
});

test('a runtime that is missing cannot be chosen and says what to install', async () => {
  const session = await signIn(browser, without);
  const { page } = session;
  const studio = new Studio(page);
  await without.api('POST', '/api/v1/code-agents', {
    name: 'money',
    language: 'javascript',
    files: { 'main.js': 'export default () => new Intl.NumberFormat().format(1)\n' },
  });
  await studio.openAgent('money');
  const option = page.getByRole('combobox', { name: 'Runtime' }).locator('option[value=node]');
  await expect.poll(() => option.isDisabled()).toBe(true);
  await expect
    .poll(() => page.getByRole('note', { name: 'Runtime' }).innerText())
    .toContain('Node would be the better choice');
  await expect.poll(() => page.getByText(/Install it or set its path with --node/).count()).toBe(1);
  await session.close();
});
