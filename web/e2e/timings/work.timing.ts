// Times in an open page: typing in a long file, running, a flood of output, a long list.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from '../kit/atelier';
import { launch, signIn, type Session } from '../kit/browser';
import { must } from '../kit/seed';
import { Studio } from '../kit/studio';
import { untilPainted, withProbe } from './probe';
import { quantile, rounds, Sheet } from './report';

let atelier: Atelier;
let browser: Browser;
beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

async function opened(work: (page: Page, studio: Studio) => Promise<void>): Promise<void> {
  const session: Session = await signIn(browser, atelier);
  await withProbe(session.context);
  await work(session.page, new Studio(session.page));
  await session.close();
}

test('typing in a file of 2,000 lines', async () => {
  const line = (n: number): string => `export const value${n} = (input: Input): string => input.city + ${n};\n`;
  await must(atelier, 'POST', '/code-agents', {
    name: 'long',
    language: 'typescript',
    entrypoint: 'main.ts',
    files: { 'main.ts': Array.from({ length: 2000 }, (_, n) => line(n)).join('') },
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  });
  const sheet = new Sheet();
  await opened(async (page, studio) => {
    await studio.openAgent('long');
    await studio.editor.focus();
    await page.keyboard.press('ControlOrMeta+Home');
    for (let n = 0; n < 20; n++) await page.keyboard.press('PageDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('// ');
    for (let round = 0; round < rounds; round++) {
      await page.waitForFunction(() => window.probe.unpainted === 0);
      await page.evaluate(() => (window.probe.keys = []));
      const text = `words ${round} `.repeat(8);
      // Types at the speed of a fast typist, so that language services run in between.
      await page.keyboard.type(text, { delay: 60 });
      await page.waitForFunction(() => window.probe.unpainted === 0);
      const keys = await page.evaluate(() => window.probe.keys);
      expect(keys.length).toBe(text.length);
      sheet.add('key-p50', quantile(keys, 0.5));
      sheet.add('key-p95', quantile(keys, 0.95));
    }
    await page
      .getByText(`words ${rounds - 1}`)
      .first()
      .waitFor();
  });
  sheet.report();
});

test('from Run to the first line', async () => {
  // A short run switches to its result before anybody can read a line, so this run waits. The baseline does not.
  const code = (after: string): string =>
    `export default async () => {\n  console.log("hello", crypto.randomUUID());\n${after}};\n`;
  for (const [name, after] of [
    ['hello', '  await new Promise((done) => setTimeout(done, 500));\n'],
    ['hello-api', ''],
  ] as const)
    await must(atelier, 'POST', '/code-agents', {
      name,
      language: 'javascript',
      entrypoint: 'main.js',
      files: { 'main.js': code(after) },
    });
  const sheet = new Sheet();
  await opened(async (page, studio) => {
    await studio.openAgent('hello');
    const selector = '[aria-label="Program output"] [role=listitem]';
    const run = page.getByRole('button', { name: /^Run/ }).first();
    let before = 'nothing';
    for (let round = -1; round < rounds; round++) {
      const took = await untilPainted(page, { selector, text: 'hello', not: before }, () => run.click());
      await studio.ended(/^Succeeded ·/);
      before = (await studio.consoleLines()).join('').slice(-20);
      const asked = performance.now();
      await must(atelier, 'POST', '/code-agents/hello-api/execute', { version: 'draft', input: {} });
      if (round < 0) continue; // earlier rounds warm the sandbox
      sheet.add('run-line', took);
      sheet.add('run-api', performance.now() - asked);
    }
  });
  sheet.report();
});

/** Runs the program and returns the time from the key press to the end. */
async function flood(page: Page, studio: Studio): Promise<number> {
  await studio.start();
  await studio.ended(/^Succeeded ·/);
  return page.evaluate(() => performance.now() - window.probe.touched);
}

test('a hundred thousand lines', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'flood',
    language: 'python',
    entrypoint: 'main.py',
    files: {
      'main.py':
        'def main(input, ctx):\n    for n in range(100000):\n        print(f"\\x1b[32mid={n}\\x1b[0m \\x1b[1mok\\x1b[0m")\n',
    },
    limits: { outputBytes: 8 * 2 ** 20 },
  });
  const sheet = new Sheet();
  for (let round = 0; round < rounds; round++)
    await opened(async (page, studio) => {
      await studio.openAgent('flood');
      await page.getByText('Python: ready').waitFor();
      // The first flood is not counted: the language service is still busy and code is compiled on first use.
      await flood(page, studio);
      await page.evaluate(() => window.probe.frames()); // the page must have painted a frame before the measurement
      const frames = await page.evaluateHandle(() => window.probe.frames());
      const whole = await flood(page, studio);
      sheet.add('frame-worst', await frames.evaluate((stop) => stop()));
      sheet.add('flood-whole', whole);
      await studio.hasPrinted('id=99999');
      // Measure the frames that the same browser drops while the page is idle.
      await page.goto('/health');
      const still = await page.evaluateHandle(() => window.probe.frames());
      await page.waitForTimeout(2000);
      sheet.add('frame-blank', await still.evaluate((stop) => stop()));
    });
  sheet.report();
});

test('a list of a thousand agents', async () => {
  await Promise.all(
    Array.from({ length: 8 }, async (_, lane) => {
      for (let n = lane; n < 1000; n += 8)
        await must(atelier, 'POST', '/code-agents', {
          name: `many-${n}`,
          language: 'bash',
          entrypoint: 'main.sh',
          files: { 'main.sh': 'echo 1\n' },
        });
    }),
  );
  const sheet = new Sheet();
  for (let round = 0; round < rounds; round++)
    await opened(async (page) => {
      await page.goto('/studio/runs');
      await page.getByRole('heading', { name: 'Runs' }).waitFor();
      const all = page.getByRole('link', { name: 'Atelier, all agents' });
      const row = { selector: '[aria-label="Agents found"] li', text: 'many-' };
      sheet.add('agents', await untilPainted(page, row, () => all.click()));
    });
  sheet.report();
}, 600_000);
