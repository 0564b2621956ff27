// Tool sets in the Studio, and the configuration of MCP clients with a token of the least scope.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { must, program, publishedAgent, saveDraft } from './kit/seed';

let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  await publishedAgent(atelier, 'weather');
  await publishedAgent(atelier, 'tides');
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

const ask = (token: string, path: string, method = 'GET'): Promise<Response> =>
  fetch(atelier.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    ...(method === 'POST' && {
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      }),
    }),
  });

test('a tool set is created, edited and deleted, and says what is deprecated', async () => {
  const session = await signIn(browser, atelier);
  const { page } = session;
  await page.goto('/studio/tool-sets');
  await page.getByText('No tool sets yet.').waitFor();
  await page.getByRole('button', { name: 'New tool set…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Save tool set' }).click();
  await dialog.getByText('Enter a name.').waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('Daily');
  await dialog.getByRole('button', { name: 'Save tool set' }).click();
  await dialog.getByText('must begin with a lower-case letter').waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('daily');
  await dialog.getByLabel('Title').fill('Daily report');
  for (const agent of ['weather', 'tides']) {
    await dialog.getByLabel('Add an agent').fill(agent);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  }
  await dialog.getByLabel('Version of weather').selectOption('1.0.0');
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save tool set' }).click();
  await page.getByRole('heading', { name: 'Daily report', level: 1 }).waitFor();
  const row = (agent: string) => page.getByRole('table', { name: 'Tools' }).getByRole('row').filter({ hasText: agent });
  await row('weather').getByText('newest').waitFor();
  await saveDraft(atelier, 'weather', program('Rain'));
  await must(atelier, 'POST', '/code-agents/weather/versions', { version: '1.1.0' });
  await must(atelier, 'PATCH', '/code-agents/weather/versions/1.0.0', { deprecated: true, reason: 'It says sun.' });
  await page.reload();
  await row('weather').getByText('deprecated: It says sun.').waitFor();
  await row('weather').getByText('Use weather@1.1.0.').waitFor();
  await page.getByText('1 tool is deprecated').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('list', { name: 'Tools of daily' }).getByText('1 deprecated').waitFor();
  await page.getByRole('button', { name: 'Update to weather@1.1.0' }).click();
  await dialog.getByText(/\bweather@1\.1\.0[,.]/).waitFor();
  await dialog.getByRole('button', { name: 'Update', exact: true }).click();
  await row('weather').getByText('newest').waitFor();
  await row('weather').getByText('1.1.0').waitFor();
  expect(await page.getByRole('button', { name: /^Update/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Edit…' }).click();
  await dialog.getByLabel('Version of weather').selectOption('1.1.0');
  await dialog.getByRole('button', { name: 'Remove tides' }).click();
  await dialog.getByRole('button', { name: 'Save tool set' }).click();
  await row('weather').getByText('newest').waitFor();
  expect(await row('tides').count()).toBe(0);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No tool sets yet.').waitFor();
  await session.close();
});

test('a client is connected to a set with a token for its agents only', async () => {
  await must(atelier, 'PUT', '/tool-sets/morning', { references: ['weather@^1'] });
  const session = await signIn(browser, atelier, { theme: 'light', width: 390, height: 800 });
  const { page } = session;
  await page.goto('/studio/tool-sets/morning');
  await page.getByRole('button', { name: 'Connect' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Client').selectOption('Cursor');
  const text = dialog.getByRole('region', { name: 'Configuration of Cursor' }).locator('pre');
  expect(await text.textContent()).toContain(`"url": "${atelier.url}/mcp/sets/morning"`);
  expect(await text.textContent()).toContain('Bearer ${env:ATELIER_TOKEN}');
  await dialog.getByText('for weather is enough').waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create this token' }).click();
  await dialog.getByText('Token created.').waitFor();
  const secret = (await dialog.getByLabel('Secret').textContent()) ?? '';
  expect(secret).toMatch(/^atl_/);
  expect(await text.textContent()).not.toContain(secret);
  expect(await violations(page)).toEqual([]);
  expect((await ask(secret, '/mcp/sets/morning', 'POST')).status).toBe(200);
  expect((await ask(secret, '/mcp/tides', 'POST')).status).toBe(404);
  await dialog.getByLabel('Client').selectOption('ChatGPT');
  await dialog.getByText('reachable from the internet').waitFor();
  expect(await dialog.getByRole('button', { name: 'Create this token' }).count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  expect((await ask(secret, '/api/v1/code-agents')).status).toBe(403);
  await dialog.getByLabel('Client').selectOption('VS Code');
  await dialog.getByText('The editor asks for it.').waitFor();
  expect(
    await dialog.getByRole('region', { name: 'Configuration of VS Code' }).locator('pre').textContent(),
  ).not.toContain(secret);
  // Code mode needs another token, because the model sends programs.
  await dialog.getByLabel('Code mode').check();
  await dialog.getByRole('button', { name: 'Create this token' }).waitFor();
  await dialog.getByText(`${atelier.url}/mcp/sets/morning?mode=code`).first().waitFor();
  await session.close();
});

test('an agent is connected from its menu, in a chosen version', async () => {
  const session = await signIn(browser, atelier);
  const { page } = session;
  await page.goto('/studio/a/tides');
  await page.getByRole('button', { name: 'More about tides' }).click();
  await page.getByRole('menuitem', { name: 'Connect a client' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Version').selectOption('1.0.0');
  const text = dialog.getByRole('region', { name: 'Configuration of Claude Code' }).locator('pre');
  await expect.poll(() => text.textContent()).toContain(`'${atelier.url}/mcp/tides@1.0.0'`);
  await session.close();
});
