// The skills page shows a folder on disk.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
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

const settings = (version: string): string =>
  `name: greet\nversion: ${version}\ndescription: Greets somebody.\nhandler: handler.greet\n`;

async function write(name: string, content: string): Promise<void> {
  const folder = join(atelier.data, 'skills', 'greet');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), content);
}

describe('skills', () => {
  test('a folder is shown, broken and fixed while the page is open', async () => {
    const session = await signIn(browser, atelier);
    const { page } = session;
    await page.goto('/studio/skills');
    await page.getByRole('heading', { name: 'No skills yet' }).waitFor();
    await page.getByRole('button', { name: 'Copy the commands that make a skill' }).waitFor();
    // The commands that the empty page shows make a skill that works.
    const commands = await page.getByRole('region', { name: 'Commands that make a skill' }).innerText();
    execFileSync('bash', ['-e', '-c', commands]);
    const row = page.getByRole('table', { name: 'Skills' }).getByRole('row').filter({ hasText: 'Greets somebody.' });
    await row.getByText('1.0.0').waitFor();
    const called = await atelier.api('POST', '/skills/execute', { skill: 'greet', args: { name: 'Ada' } });
    expect(called.body).toMatchObject({ success: true });
    await write('handler.py', 'def greet(name:\n');
    await write('skill.yaml', settings('1.1.0'));
    await row.getByText('greet/handler.py:1').waitFor();
    expect(await row.getByText('1.0.0').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await write('handler.py', 'def greet(name):\n    return {"text": name, "more": 1}\n');
    await row.getByText('1.1.0').waitFor();
    await row.getByText('greet/handler.py:1').waitFor({ state: 'detached' });
    await session.close();
  });

  test('a draft of a client is promoted, and a skill uninstalled', async () => {
    const made = await atelier.api('POST', '/v1/skills/create', {
      name: 'adder',
      description: 'Adds numbers up.',
      code: 'def run(action, args):\n    return sum(args["n"])\n',
    });
    expect(made.status).toBe(200);
    const session = await signIn(browser, atelier, { theme: 'light', width: 390, height: 800 });
    const { page } = session;
    await page.goto('/studio/skills');
    const draft = page.getByRole('table', { name: 'Skills' }).getByRole('row').filter({ hasText: 'Adds numbers up.' });
    await draft.getByText('Python', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Promote adder' }).click();
    await page.getByRole('button', { name: 'Promote adder' }).waitFor({ state: 'detached' });
    const run = await atelier.api('POST', '/v1/skills/run', { name: 'adder', args: { n: [1, 2] } });
    expect(run.body).toMatchObject({ success: true, result: 3 });
    expect(await violations(page)).toEqual([]);
    const pin = { owner: 'flow/1', label: 'Morning report', references: ['adder@1.0.0'] };
    const pinned = await atelier.api('PUT', '/api/v1/pins', pin);
    expect(pinned.status).toBe(200);
    await page.getByRole('button', { name: 'Uninstall adder' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Morning report').waitFor();
    expect(await dialog.getByRole('button', { name: 'Uninstall', exact: true }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Uninstall anyway' }).click();
    await dialog.waitFor({ state: 'detached' }); // elements behind an open dialog have no role
    await page.getByRole('button', { name: 'Uninstall adder' }).waitFor({ state: 'detached' });
    expect((await atelier.api('GET', '/skills/adder')).status).toBe(404);
    await session.close();
  });

  test('the last one leaves the focus on the page', async () => {
    const alone = await startAtelier();
    onTestFinished(() => alone.stop());
    const made = await alone.api('POST', '/v1/skills/create', {
      name: 'adder',
      description: 'Adds numbers up.',
      code: 'def run(action, args):\n    return sum(args["n"])\n',
    });
    expect(made.status).toBe(200);
    const session = await signIn(browser, alone);
    onTestFinished(() => session.close());
    const { page } = session;
    await page.goto('/studio/skills');
    await page.getByRole('button', { name: 'Uninstall adder' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Uninstall', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'No skills yet' }).waitFor();
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);
  });
});
