// Programs are formatted by Prettier and Ruff in a worker of the page.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { launch, signIn, type Session } from './kit/browser';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let session: Session;
let page: Page;
let studio: Studio;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});
beforeEach(async () => {
  session = await signIn(browser, atelier);
  page = session.page;
  studio = new Studio(page);
});
afterEach(() => session.close());

async function formatted(name: string, language: string, code: string): Promise<() => Promise<string>> {
  await must(atelier, 'POST', '/code-agents', { name, language, code });
  await studio.openAgent(name);
  await studio.editor.focus();
  await page.keyboard.press('Shift+Alt+F');
  return async () => {
    const { draft } = (await must(atelier, 'GET', `/code-agents/${name}`)) as { draft: { files: object } };
    return Object.values(draft.files as Record<string, string>)[0] ?? '';
  };
}

const long = "'aaaaaaaaaaaaaaaaaaaaaaaaaaaa'";

test('JavaScript: long lines are broken, and the quotes of the file stay', async () => {
  const text = await formatted('wraps', 'javascript', `export default () => [${[long, long, long, long].join(',')}]`);
  await expect
    .poll(text)
    .toBe(`export default () => [\n${[long, long, long, long].map((one) => `  ${one},\n`).join('')}];\n`);
});

test('TypeScript: types are kept', async () => {
  const text = await formatted(
    'typed',
    'typescript',
    'export default (input:{a:number}):number=>input.a satisfies number',
  );
  await expect.poll(text).toBe('export default (input: { a: number }): number => input.a satisfies number;\n');
});

test('Python: Ruff formats without access to a network', async () => {
  const text = await formatted('snake', 'python', "def main(input,ctx):\n  return {'a':1,\n 'b':[1,2]}\n");
  await expect.poll(text).toBe('def main(input, ctx):\n    return {"a": 1, "b": [1, 2]}\n');
});

test('a program with a syntax error is left alone, and the line is named', async () => {
  const code = 'export default () => 1;\nconst = 2;\n';
  const text = await formatted('broken', 'javascript', code);
  await page.getByText(/^Not formatted, line 2: /).waitFor();
  expect(await text()).toBe(code);
  await must(atelier, 'POST', '/code-agents', { name: 'broken-py', language: 'python', code: 'def main(:\n' });
  await studio.openAgent('broken-py');
  await studio.editor.focus();
  await page.keyboard.press('Shift+Alt+F');
  await page
    .getByText(/^Not formatted/)
    .last()
    .waitFor();
});
