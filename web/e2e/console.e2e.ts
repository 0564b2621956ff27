// The console under load: colours, 100,000 lines, a reader who scrolls, and a broken connection.
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startGate, type Gate } from './kit/gate';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

let gate: Gate;
beforeEach(async () => {
  gate = await startGate(atelier);
});
afterEach(() => gate.close());

/** A Python agent that can wait at the gate. */
async function python(name: string, code: string, limits: Record<string, number> = {}): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'python',
    entrypoint: 'main.py',
    files: { 'main.py': code },
    capabilities: { hosts: [gate.host] },
    limits,
  });
  await studio.openAgent(name);
}

const lines = (): Locator => page.getByRole('group', { name: 'Program output' }).getByRole('listitem');
const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

test('A26 red text has the red of the theme, and is copied without escapes', async () => {
  await python('red', 'def main(input, ctx):\n    print("\\x1b[31mfire\\x1b[0m")\n');
  await studio.start();
  await studio.ended(/^Succeeded ·/);
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
      `def main(input, ctx):\n    for n in range(100000):\n        print(f"id={n} \\x1b[32mok\\x1b[0m")\n    ${gate.wait}\n`,
      { outputBytes: 8 * 2 ** 20 },
    );
    await studio.start();
    await page.getByRole('tab', { name: 'Console', selected: true }).waitFor();
    await lines().first().waitFor();
    await page.getByRole('tab', { name: 'Input' }).click();
    await page.getByRole('tab', { name: 'Input', selected: true }).waitFor();
    expect(await studio.state.textContent()).toMatch(/^Running/);
    gate.open();
    await studio.ended(/^Succeeded ·/);
    const console = await studio.panel('Console');
    await lines().filter({ hasText: 'id=99999' }).waitFor();
    expect(await lines().count()).toBeLessThan(200);
    await console.getByRole('searchbox', { name: 'Search the output' }).fill('id=77');
    // The search matches 77, 770-779, 7700-7799 and 77000-77999.
    await console.getByRole('status').filter({ hasText: 'of 1,111' }).waitFor();
  });
});

describe('long lines', () => {
  const code = `def main(input, ctx):
    for n in range(100000):
        print(f"id={n} " + ("漢" * 300 if n % 1000 == 0 else "x" * 300 if n % 7 == 0 else "short"))
    ctx.log("info", "y" * 400, {"last": True})
`;
  const printed = Array.from(
    { length: 100_000 },
    (_, n) => `id=${n} ${n % 1000 === 0 ? '漢'.repeat(300) : n % 7 === 0 ? 'x'.repeat(300) : 'short'}`,
  );
  const whole = [...printed, `info: ${'y'.repeat(400)} {"last":true}`].join('\n');
  const output = (): Locator => page.getByRole('group', { name: 'Program output' });
  const wrap = (): Locator => page.getByRole('button', { name: 'Wrap long lines' });
  const sideways = (): Promise<number> => output().evaluate((e) => e.scrollWidth - e.clientWidth);
  const line = (n: number): Locator => lines().filter({ hasText: new RegExp(`^\\d*id=${n} `) });
  const inSight = (wanted: Locator): Promise<boolean> =>
    wanted.evaluate((e) => {
      const [box, frame] = [e.getBoundingClientRect(), e.closest('[role=group]')?.getBoundingClientRect()];
      return frame !== undefined && box.bottom > frame.top && box.top < frame.bottom;
    });

  test('are wrapped when asked, a hundred thousand as well, and all of them are copied and downloaded', async () => {
    await python('wide', code, { outputBytes: 16 * 2 ** 20 });
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    const console = await studio.panel('Console');
    await lines().filter({ hasText: '{"last":true}' }).waitFor();
    expect(await wrap().getAttribute('aria-pressed')).toBe('false');
    expect(await sideways()).toBeGreaterThan(100);

    await wrap().click();
    await expect.poll(sideways).toBe(0);
    const last = lines().filter({ hasText: '{"last":true}' });
    await expect.poll(() => inSight(last)).toBe(true);
    await expect.poll(async () => (await last.boundingBox())?.height).toBeGreaterThan(18);
    expect(await lines().count()).toBeLessThan(200);

    // A line's estimated height is corrected when the line is drawn, so lines never overlap.
    await console.getByRole('searchbox', { name: 'Search the output' }).fill('id=50000');
    await expect.poll(() => line(50_000).count()).toBe(1);
    await expect.poll(() => inSight(line(50_000))).toBe(true);
    const apart = (): Promise<boolean> =>
      lines().evaluateAll((all) =>
        all.every((e, i) => {
          const next = all[i + 1]?.getBoundingClientRect().top;
          return next === undefined || Math.abs(next - e.getBoundingClientRect().bottom) < 1;
        }),
      );
    await expect.poll(apart).toBe(true);
    expect((await line(50_000).boundingBox())?.height).toBeGreaterThan(36);
    expect(await sideways()).toBe(0);
    await output().focus();
    await page.keyboard.press('ControlOrMeta+Home');
    await expect.poll(() => inSight(line(0))).toBe(true);

    await console.getByRole('button', { name: 'Copy the output' }).click();
    await expect.poll(async () => (await clipboard()) === whole).toBe(true);
    const saved = page.waitForEvent('download');
    await console.getByRole('button', { name: 'Download the output' }).click();
    expect((await readFile(await (await saved).path(), 'utf8')) === whole).toBe(true);
  });

  test('wrapping persists between visits, and the reader stays at their line', async () => {
    await python('wide-too', code.replace('100000', '1000'), { outputBytes: 2 ** 20 });
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    await studio.panel('Console');
    await lines().filter({ hasText: '{"last":true}' }).waitFor();
    const panel = page.getByRole('tabpanel', { name: 'Console' });
    await panel.getByRole('searchbox', { name: 'Search the output' }).fill('id=499 ');
    await expect.poll(() => inSight(line(499))).toBe(true);
    await wrap().click();
    await expect.poll(sideways).toBe(0);
    await expect.poll(() => inSight(line(499))).toBe(true);
    await page.reload();
    await studio.editorReady();
    await studio.panel('Console');
    expect(await wrap().getAttribute('aria-pressed')).toBe('true');
    await studio.command('wrap long lines of the out', 'Wrap long lines of the output');
    await expect.poll(() => wrap().getAttribute('aria-pressed')).toBe('false');
  });
});

test('A29 a reader who scrolls up stays there and sees the number of new lines', async () => {
  await python(
    'steady',
    'import time\n\n\ndef main(input, ctx):\n    for n in range(400):\n        print("line", n)\n    while True:\n        n += 1\n        print("line", n)\n        time.sleep(0.05)\n',
    { timeoutMs: 600_000 },
  );
  await studio.start();
  await page.getByRole('tab', { name: 'Console', selected: true }).waitFor();
  await lines()
    .filter({ hasText: /line \d{3}/ })
    .first()
    .waitFor();
  const output = page.getByRole('group', { name: 'Program output' });
  await output.hover();
  await page.mouse.wheel(0, -3000);
  const more = page.getByRole('button', { name: /new lines? ↓/ });
  await more.waitFor();
  const news = async (): Promise<number> => parseInt(await more.innerText(), 10);
  const place = (): Promise<number> => output.evaluate((e) => e.scrollTop);
  let [top, settled] = [await place(), false];
  while (!settled) {
    await page.evaluate(() => new Promise((frame) => requestAnimationFrame(frame))); // a wheel event may still be scrolling
    const now = await place();
    [top, settled] = [now, now === top];
  }
  const before = await news();
  await expect.poll(news).toBeGreaterThan(before + 5);
  expect(await place()).toBe(top);
  await more.click();
  await expect.poll(() => output.evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop)).toBeLessThan(20);
  await page.getByRole('button', { name: 'Stop' }).click();
  await studio.ended(/^Cancelled ·/);
});

test('a reader who scrolled up in one run follows the output of the next', async () => {
  const prints = (then: string): string =>
    `def main(input, ctx):\n    for n in range(400):\n        print("line", n)\n    ${then}\n`;
  const last = lines().filter({ hasText: 'line 399' });
  await python('again', prints('pass'));
  await studio.start();
  await studio.ended(/^Succeeded ·/);
  await studio.panel('Console');
  await last.waitFor();
  await page.getByRole('group', { name: 'Program output' }).hover();
  await page.mouse.wheel(0, -3000);
  await last.waitFor({ state: 'detached' });

  await studio.replaceCode(prints(gate.wait));
  await studio.start();
  await last.waitFor();
  gate.open();
  await studio.ended(/^Succeeded ·/);
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
    `def main(input, ctx):\n    for n in range(60):\n        print("line", n)\n        if n == 5: ${gate.wait}\n`,
  );
  await studio.start();
  await lines().filter({ hasText: 'line 5' }).first().waitFor();
  // The text is shown for half a second, so an observer watches for it.
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
  gate.open();
  await studio.ended(/^Succeeded ·/);
  expect(cuts).toBe(1);
  const console = await studio.panel('Console');
  await console.getByRole('button', { name: 'Copy the output' }).click();
  const printed = async (): Promise<string[]> =>
    (await clipboard()).split('\n').filter((text) => !text.includes(gate.host)); // the console may also show the proxy's answer for the gate
  await expect.poll(printed).toEqual(Array.from({ length: 60 }, (_, n) => `line ${n}`));
});
