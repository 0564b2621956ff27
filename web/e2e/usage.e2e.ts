// Usage and budgets: a budget is created, refuses a job, is raised and removed, and the run says where it ran.
import { createServer, type Server } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let service: Server;
let jobs = 0;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  service = await startService(atelier.grantable);
  await must(atelier, 'POST', '/code-agents', {
    name: 'train',
    language: 'python',
    runtime: 'remote',
    capabilities: { hosts: [`127.0.0.1:${String(atelier.grantable)}`] },
    files: {
      'main.py': 'def main(): return 1\n',
      'remote.json': JSON.stringify({
        url: `http://127.0.0.1:${String(atelier.grantable)}/execute`,
        protocol: 'openapi',
      }),
    },
    entrypoint: 'main.py',
    inputSchema: { type: 'object' },
  });
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  await new Promise((done) => service.close(done));
});

/** A service with one GPU. Every job uses it for a minute. */
async function startService(port: number): Promise<Server> {
  const server = createServer((asked, answer) => {
    asked.resume().on('end', () => {
      jobs++;
      answer.setHeader('Content-Type', 'application/json');
      answer.end(
        JSON.stringify({
          runId: `job-${String(jobs)}`,
          status: 'succeeded',
          success: true,
          output: 1,
          error: null,
          stdout: '',
          stderr: '',
          metrics: { gpuMs: 60_000 },
        }),
      );
    });
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return server;
}

describe('a budget of one GPU minute', () => {
  for (const [theme, width] of [
    ['dark', 1280],
    ['light', 390],
  ] as const) {
    test(`the second job is refused, and the Studio shows why (${theme}, ${width})`, async () => {
      const before = jobs;
      const name = `gpu-${theme}`;
      const session = await signIn(browser, atelier, { theme, width, height: 800 });
      const { page } = session;
      const studio = new Studio(page);
      await page.goto('/studio/usage');
      await page.getByRole('button', { name: 'New budget…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Create budget' }).click();
      await dialog.getByText('Enter a name.').waitFor();
      await dialog.getByText('Enter an amount above 0.').waitFor();
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel('Name').fill('Not A Name');
      await dialog.getByLabel('Amount in minutes').fill(String(before + 1));
      await dialog.getByRole('button', { name: 'Create budget' }).click();
      await dialog.getByText('must start with a lower-case letter').waitFor();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByRole('button', { name: 'Create budget' }).click();
      await dialog.waitFor({ state: 'detached' });
      const row = page.getByRole('list', { name: 'Budgets' }).getByRole('listitem').filter({ hasText: name });
      await row.getByText('Refuses runs at other services when it is used up.').waitFor();

      await studio.openAgent('train');
      await page.keyboard.press('ControlOrMeta+Enter');
      const state = page.getByRole('status', { name: 'Run state' });
      await state.getByText('Succeeded').waitFor();
      await page.getByRole('tab', { name: 'Result' }).click();
      const place = page.getByRole('region', { name: 'Where it ran' });
      await place.getByText('The program names this runtime.').waitFor();
      expect(await place.textContent()).toContain('In the runtime remote.');
      expect(await violations(page)).toEqual([]);

      await page.keyboard.press('ControlOrMeta+Enter');
      await state.getByText('Not started').waitFor();
      await page.getByText(`the budget ${name} of this workspace is used up`).waitFor();
      expect(jobs).toBe(before + 1);
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Usage and budgets' }).click();
      await row.getByText('Used up: new runs at other services are refused with 402').waitFor();
      expect(await violations(page)).toEqual([]);

      await row.getByRole('button', { name: `Change ${name}` }).click();
      expect(await dialog.getByLabel('Amount in minutes').inputValue()).toBe(String(before + 1));
      await dialog.getByLabel('Amount in minutes').fill('90');
      await dialog.getByLabel('When it is used up').selectOption('Refuse all runs');
      await dialog.getByRole('button', { name: 'Save budget' }).click();
      await dialog.waitFor({ state: 'detached' });
      await row.getByText('Refuses all runs when it is used up.').waitFor();
      await row.getByRole('button', { name: `Remove ${name}` }).click();
      await dialog.getByRole('button', { name: 'Remove budget' }).click();
      await row.waitFor({ state: 'detached' });
      await session.close();
    });
  }
});

test('a run says which rule of the router chose its runtime', async () => {
  const program = { language: 'python', code: 'def main(): return 1', input: {}, hints: { expectedMs: 20 } };
  const { runId } = (await must(atelier, 'POST', '/execute', program)) as { runId: string };
  const session = await signIn(browser, atelier);
  await session.page.goto(`/studio/runs/${runId}`);
  const place = session.page.getByRole('region', { name: 'Where it ran' });
  await place.getByText('The call expects 20 ms.').waitFor();
  await place.getByText('short', { exact: true }).waitFor();
  await session.close();
});
