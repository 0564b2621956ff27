// A task from a description: a language model writes the program, unusable answers and the log of the program appear
// without a reload, and the person accepts the changes. The model is a server that gives prepared answers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';

const program = `def main(input, ctx):
    ctx.log('info', 'looks for text files')
    ctx.progress(1, 2, 'reading')
    ctx.write_file('a.txt', ctx.read_file('a.txt') + 'done\\n')
    ctx.submit_result('Added a line', ['a.txt'])
    return 1
`;
const answers = [
  'I am only prose.',
  JSON.stringify({
    explanation: 'Adds a line.',
    plan: ['read', 'write'],
    files: [{ path: 'main.py', content: program }],
  }),
];

let model: Server;
let atelier: Atelier;
let browser: Browser;
/** Makes the model send its second answer. */
let answer = (): void => undefined;

beforeAll(async () => {
  const allowed = new Promise<void>((done) => (answer = done));
  model = createServer((request, response) => {
    request.resume().on('end', () => {
      const content = answers.shift() ?? '';
      void (answers.length === 0 ? allowed : Promise.resolve()).then(() => {
        response.setHeader('Content-Type', 'application/json');
        response.end(
          JSON.stringify({ choices: [{ message: { content } }], usage: { prompt_tokens: 90, completion_tokens: 10 } }),
        );
      });
    });
  });
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done));
  const { port } = model.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}/v1`;
  const flags = ['--llm-base-url', url, '--llm-model', 'scripted', '--llm-first-delay', '1ms'];
  [atelier, browser] = await Promise.all([startAtelier(...flags), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  model.closeAllConnections();
  await new Promise((done) => model.close(done));
});

/** Checks that nothing overflows, and takes pictures if a folder for them is set. */
async function photograph(page: Page, name: string): Promise<void> {
  const shots = process.env.ATELIER_TEST_SHOTS;
  for (const scheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}-${String(width)}-${scheme}.png`) });
    }
  await page.setViewportSize({ width: 1440, height: 900 });
}

test('a described task shows its attempts, its log and its program live, and is accepted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-project-'));
  writeFileSync(join(folder, 'a.txt'), 'one\n');
  expect(await atelier.cli('project', 'import', 'shop', folder, '--server', atelier.url)).toMatchObject({ code: 0 });
  rmSync(folder, { recursive: true });
  const session = await signIn(browser, atelier);
  const { page } = session;
  await page.goto('/studio/tasks');
  await page.getByRole('button', { name: 'New task' }).click();
  const asked = page.getByRole('dialog', { name: 'New task' });
  await asked.getByRole('radio', { name: 'Describe it' }).click();
  await asked.getByLabel('Change').fill('Add a line to the text file.');
  await asked.getByLabel('Project').selectOption('shop');
  expect(await violations(page)).toEqual([]);
  await photograph(page, 'describe');
  await asked.getByRole('button', { name: 'Submit' }).click();
  await page.getByRole('heading', { name: 'Add a line to the text file.' }).waitFor();
  const events = page.getByRole('list', { name: 'Events' });
  await events.getByText('the answer contains no JSON object').waitFor();
  expect(await page.getByRole('region', { name: 'Program' }).count()).toBe(0);
  answer();
  await page.getByRole('list', { name: 'Log of the program' }).getByText('looks for text files').waitFor();
  await page.getByRole('region', { name: 'main.py' }).getByText("+    ctx.submit_result('Added a line'").waitFor();
  await page.getByRole('region', { name: 'The proposed change of a.txt' }).getByText('+done').waitFor();
  expect(await violations(page)).toEqual([]);
  await photograph(page, 'described');
  await page.getByRole('button', { name: 'Accept all' }).click();
  await page.getByRole('region', { name: 'a.txt', exact: true }).getByText('accepted').waitFor();
  expect((await atelier.api('GET', '/api/v1/projects/shop/file?path=a.txt')).body).toMatchObject({
    content: 'one\ndone\n',
  });
  await session.close();
});

test('an administrator switches the language model off, and the form of tasks no longer offers it', async () => {
  const session = await signIn(browser, atelier);
  const { page } = session;
  await page.goto('/studio/usage');
  const model = page.getByRole('region', { name: 'Language model' });
  await model.getByText(/^scripted is on\./).waitFor();
  expect(await violations(page)).toEqual([]);
  await photograph(page, 'model');
  await model.getByRole('button', { name: 'Switch off' }).click();
  await model.getByText('scripted is switched off.').waitFor();
  expect((await atelier.api('POST', '/api/v1/tasks', { description: 'x', project: 'shop' })).status).toBe(503);
  await page.getByRole('link', { name: 'Tasks' }).click();
  await page.getByRole('button', { name: 'New task' }).click();
  const asked = page.getByRole('dialog', { name: 'New task' });
  await asked.getByLabel('Agent').waitFor();
  expect(await asked.getByRole('radio', { name: 'Describe it' }).count()).toBe(0);
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await page.goto('/studio/usage');
  await model.getByRole('button', { name: 'Switch on' }).click();
  await model.getByText(/^scripted is on\./).waitFor();
  await session.close();
});
