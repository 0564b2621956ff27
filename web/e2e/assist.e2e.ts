// A fix that a language model proposes: shown as a difference, applied by the person, and then the run succeeds.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

const code = 'def main(names: list[str]) -> str:\n    return names[0].upper()\n';
const answers = [
  'I am only prose.',
  JSON.stringify({
    explanation: 'The list of names can be empty.',
    edits: [{ file: 'main.py', old: 'names[0].upper()', new: 'names[0].upper() if names else ""' }],
  }),
];

let model: Server;
let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  model = createServer((request, response) => {
    request.resume().on('end', () => {
      const content = answers.shift() ?? '';
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({ choices: [{ message: { content } }], usage: { prompt_tokens: 90, completion_tokens: 10 } }),
      );
    });
  });
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done));
  const { port } = model.address() as AddressInfo;
  const flags = [
    '--llm-base-url',
    `http://127.0.0.1:${port}/v1`,
    '--llm-model',
    'scripted',
    '--llm-first-delay',
    '1ms',
  ];
  [atelier, browser] = await Promise.all([startAtelier(...flags), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  await new Promise((done) => model.close(done));
});

test('a failed run gets a proposed fix, which is applied and then succeeds', async () => {
  await must(atelier, 'POST', '/code-agents', { name: 'fixed', language: 'python', code });
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('fixed');
    await page.getByRole('tab', { name: 'Input' }).click();
    await studio.start();
    await studio.ended(/^Failed/);
    await page.getByRole('tab', { name: 'Result' }).click();
    await page.getByRole('button', { name: 'Propose a fix' }).click();
    const dialog = page.getByRole('dialog', { name: 'Propose a fix' });
    await dialog.getByText('The list of names can be empty.').waitFor();
    await dialog.getByText('With this change the run succeeds').waitFor();
    await dialog.getByText('1 earlier attempt failed').waitFor();
    await dialog.getByRole('region', { name: 'main.py' }).getByText('if names else').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The proposed fix was applied.').waitFor();
    await studio.saved();
    await studio.start();
    await studio.ended(/^Succeeded/);
  } finally {
    await session.close();
  }
});
