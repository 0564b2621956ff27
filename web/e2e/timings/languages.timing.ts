// Language services: the time until they answer and the memory of the page.
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { startAtelier, type Atelier } from '../kit/atelier';
import { launch, signIn } from '../kit/browser';
import { Editing } from '../kit/editing';
import { must } from '../kit/seed';
import { Studio } from '../kit/studio';
import { editorPainted, untilPainted, withProbe } from './probe';
import { rounds, Sheet } from './report';

let atelier: Atelier;
let browser: Browser;
beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  await must(atelier, 'POST', '/code-agents', {
    name: 'words',
    language: 'typescript',
    entrypoint: 'main.ts',
    files: {
      'main.ts': 'export default function main(input: Input) {\n  \n  return {};\n}\n',
      'wrong.py': 'import datetime\n\nx: int = "a"\n\n',
    },
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  });
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

/** Types a line and returns the time from its last key to the suggestion. */
async function completed(page: Page, line: number, text: string, word: string): Promise<number> {
  const editing = new Editing(page);
  await editing.retype(line, text.slice(0, -1));
  await page.keyboard.press('Escape');
  const offered = { selector: '.suggest-widget.visible [role=option]', text: word };
  const after = await untilPainted(page, offered, () => page.keyboard.type(text.slice(-1)));
  await page.keyboard.press('Escape');
  return after;
}

test('completions, diagnostics and memory', async () => {
  const sheet = new Sheet();
  for (let round = 0; round < rounds; round++) {
    const session = await signIn(browser, atelier);
    await withProbe(session.context);
    const { page } = session;
    await page.goto('/studio/a/words');
    await editorPainted(page);
    await new Studio(page).editorReady();
    sheet.add('ts-first', await completed(page, 2, 'input.', 'city'));
    sheet.add('ts-next', await completed(page, 2, 'input.', 'city'));
    sheet.add('memory-ts', await rendererMemory());
    const file = page.getByRole('treeitem', { name: 'wrong.py' });
    const marked = { selector: '.monaco-editor .squiggly-error' };
    await new Editing(page).retype(2, 'return input;');
    await page.locator(marked.selector).first().waitFor({ state: 'detached' });
    sheet.add('python-diagnostics', await untilPainted(page, marked, () => file.click()));
    await completed(page, 4, 'datetime.', 'timedelta');
    sheet.add('python-completion', await completed(page, 4, 'datetime.', 'timedelta'));
    sheet.add('memory-python', await rendererMemory());
    await session.close();
  }
  sheet.report();
});

/** The memory of the page's process in megabytes. The browser also keeps a small spare process. */
async function rendererMemory(): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const resident = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0));
  return Math.max(...resident) / 1024;
}
