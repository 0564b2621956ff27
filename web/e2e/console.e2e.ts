// The console under load: colours, a hundred thousand lines, a reader who scrolls, and a connection that breaks.
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

async function python(name: string, code: string, limits: Record<string, number> = {}): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'python',
    entrypoint: 'main.py',
    files: { 'main.py': code },
    limits,
  });
  await studio.openAgent(name);
}

const lines = (): Locator => page.getByRole('group', { name: 'Program output' }).getByRole('listitem');
const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

test('A26 red text has the red of the theme, and is copied without escapes', async () => {
  await python('red', 'def main(input, ctx):\n    print("\\x1b[31mfire\\x1b[0m")\n');
  await studio.start();
  await studio.ended(/^Succeeded in/);
  const console = await studio.panel('Console');
  const colours = await lines()
    .getByText('fire')
    .evaluate((span) => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--err)';
      const wanted = getComputedStyle(probe).color;
      probe.remove();
      return { wanted, has: getComputedStyle(span).color };
    });
  expect(colours.has).toBe(colours.wanted);
  await console.getByRole('button', { name: 'Copy the output' }).click();
  await expect.poll(clipboard).toBe('fire');
});

describe('a hundred thousand lines', () => {
  test('A27 leave the page usable, and can all be reached and searched', async () => {
    await python(
      'flood',
      'import time\n\n\ndef main(input, ctx):\n    for n in range(100000):\n        print(f"id={n} \\x1b[32mok\\x1b[0m")\n    time.sleep(6)\n',
      { outputBytes: 8 * 2 ** 20 },
    );
    await studio.start();
    await page.getByRole('tab', { name: 'Console', selected: true }).waitFor();
    await lines().first().waitFor();
    await page.getByRole('tab', { name: 'Input' }).click();
    await page.getByRole('tab', { name: 'Input', selected: true }).waitFor();
    expect(await studio.state.textContent()).toMatch(/^Running/);
    await studio.ended(/^Succeeded in/);
    const console = await studio.panel('Console');
    expect(await lines().count()).toBeLessThan(200);
    await lines().filter({ hasText: 'id=99999' }).waitFor();
    await console.getByRole('searchbox', { name: 'Search the output' }).fill('id=77');
    // 77, 770-779, 7700-7799 and 77000-77999.
    await console.getByRole('status').filter({ hasText: 'of 1,111' }).waitFor();
  });
});

test('A29 a reader who scrolls up stays there, and is told what is new', async () => {
  await python(
    'steady',
    'import time\n\n\ndef main(input, ctx):\n    for n in range(400):\n        print("line", n)\n    for n in range(400, 600):\n        print("line", n)\n        time.sleep(0.05)\n',
  );
  await studio.start();
  await page.getByRole('tab', { name: 'Console', selected: true }).waitFor();
  await lines().filter({ hasText: 'line 39' }).first().waitFor();
  const output = page.getByRole('group', { name: 'Program output' });
  await output.hover();
  await page.mouse.wheel(0, -3000);
  const more = page.getByRole('button', { name: /new lines? ↓/ });
  await more.waitFor();
  const news = async (): Promise<number> => parseInt(await more.innerText(), 10);
  const [top, before] = [await output.evaluate((e) => e.scrollTop), await news()];
  await expect.poll(news).toBeGreaterThan(before + 5);
  expect(await output.evaluate((e) => e.scrollTop)).toBe(top);
  await more.click();
  await expect.poll(() => output.evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop)).toBeLessThan(20);
});

test('A30 a connection that breaks loses and repeats no line', async () => {
  let cuts = 0;
  let cut: (() => Promise<void>) | undefined;
  await page.routeWebSocket(/\/runs\/[^/]+\/stream/, (socket) => {
    const server = socket.connectToServer();
    cut = async () => {
      cut = undefined;
      cuts++;
      await server.close();
      await socket.close({ code: 1012, reason: 'cut' });
    };
  });
  await python(
    'broken-line',
    'import time\n\n\ndef main(input, ctx):\n    for n in range(60):\n        print("line", n)\n        time.sleep(0.15)\n',
  );
  await studio.start();
  await lines().filter({ hasText: 'line 5' }).first().waitFor();
  // It is said for half a second only, so it is watched for.
  const said = page.evaluate(
    () =>
      new Promise<void>((done) => {
        const observer = new MutationObserver(() => {
          if (!document.body.innerText.includes('Reconnecting')) return;
          observer.disconnect();
          done();
        });
        observer.observe(document.body, { childList: true, subtree: true, characterData: true });
      }),
  );
  await cut?.();
  await said;
  await studio.ended(/^Succeeded in/);
  expect(cuts).toBe(1);
  const console = await studio.panel('Console');
  await console.getByRole('button', { name: 'Copy the output' }).click();
  await expect.poll(clipboard).toBe(Array.from({ length: 60 }, (_, n) => `line ${n}`).join('\n'));
});
