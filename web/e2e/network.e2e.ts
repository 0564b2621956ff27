// A denied host: the card explains it, and one click allows it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { launch, signIn } from './kit/browser';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let site: Server;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  site = createServer((_, answer) => answer.end('{"temperature":7}'));
  await new Promise<void>((listening) => site.listen(atelier.grantable, '127.0.0.1', listening));
});
afterAll(async () => {
  await browser.close();
  site.close();
  await atelier.stop();
});

test('a denied host is allowed by one press', async () => {
  const session = await signIn(browser, atelier);
  const { page } = session;
  const studio = new Studio(page);
  const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  const code = `export default async function main() {\n  const answer = await fetch('http://${host}/v1/weather');\n  return answer.json();\n}\n`;
  const made = await atelier.api('POST', '/api/v1/code-agents', {
    name: 'outdoors',
    language: 'typescript',
    files: { 'main.ts': code },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  await studio.openAgent('outdoors');
  await studio.start();
  await studio.ended(/^Network denied ·/);
  const card = (await studio.panel('Result')).getByRole('region', { name: 'Error' });
  await card.getByText('Rule capabilities.hosts').waitFor();
  expect(await card.getByText(/^Add ".*" to/).count()).toBe(0); // the button already names the host
  await card.getByRole('button', { name: 'main.ts:2' }).waitFor();
  await card.getByRole('button', { name: `Allow ${host}` }).click();
  await expect.poll(() => card.getByRole('status').innerText()).toContain(`+ ${host}`);
  const hosts = page.getByRole('textbox', { name: 'Hosts, one per line' });
  await expect.poll(() => hosts.inputValue()).toBe(host);
  await studio.saved();
  await card.getByRole('button', { name: 'Run again' }).click();
  await studio.ended(/^Succeeded ·/);
  expect(await studio.result()).toEqual({ temperature: 7 });

  await hosts.fill('https://api.example.com');
  const refused = page.getByText(/^Not saved: https:\/\/api\.example\.com must be .* without a scheme or path/);
  await refused.first().waitFor();
  await session.close();
});
