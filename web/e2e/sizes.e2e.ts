// Stress cases: reduced motion, 200 % zoom, long names, right-to-left text, many agents and many files.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { launch, signIn, type Look } from './kit/browser';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
const name = 'a_name_that_is_as_long_as_a_name_may_be_and_that_nobody_would_use'.slice(0, 63);
const arabic = 'تقرير الطقس اليومي للمدينة';

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  await must(atelier, 'POST', '/code-agents', {
    name,
    title: arabic,
    description: `${arabic} ${'word'.repeat(60)}`,
    tags: ['demo', 'tag'.repeat(12)],
    language: 'javascript',
    entrypoint: 'main.js',
    files: {
      'main.js': 'export default (input) => ({ text: input.text, rows: [{ city: input.text, n: 1 }] });\n',
      ...Object.fromEntries(Array.from({ length: 499 }, (_, n) => [`data/part-${n}.json`, '{}'])),
    },
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', title: arabic, default: arabic }, ['x'.repeat(60)]: { type: 'integer' } },
    },
  });
  await must(atelier, 'POST', `/code-agents/${name}/execute`, { version: 'draft', input: { text: arabic } });
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

async function withPage(look: Look, work: (page: Page, studio: Studio) => Promise<void>): Promise<void> {
  const session = await signIn(browser, atelier, look);
  try {
    await work(session.page, new Studio(session.page));
  } finally {
    await session.close();
  }
}

/** Only elements with their own scrollbar may scroll sideways, and no control may be outside the window. */
async function fits(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const root = document.documentElement;
    const scrolls = (e: Element | null): boolean =>
      e !== null &&
      (/auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth
        ? true
        : scrolls(e.parentElement));
    // The skip link is outside the window until it has the focus.
    const outside = [
      ...document.querySelectorAll('button, input, select, textarea, a[href]:not([href="#editor"])'),
    ].filter((e) => {
      const box = e.getBoundingClientRect();
      if (box.width === 0 || getComputedStyle(e).visibility === 'hidden' || e.closest('[inert], .monaco-editor'))
        return false;
      return (box.left < -1 || box.right > window.innerWidth + 1) && !scrolls(e.parentElement);
    });
    // Document pages scroll only vertically; wide content scrolls inside its own element.
    const page = [...document.querySelectorAll('main > *')].map((e) => e.scrollWidth - e.clientWidth);
    return {
      wider: Math.max(root.scrollWidth - window.innerWidth, ...page),
      outside: outside.map((e) => e.getAttribute('aria-label') ?? e.textContent),
    };
  });
  expect(found).toEqual({ wider: 0, outside: [] });
}

const places: [string, string, (page: Page) => Promise<unknown>][] = [
  ['the first page', '/studio/', (page) => page.getByRole('heading', { level: 1 }).first().waitFor()],
  ['an agent', `/studio/a/${name}`, (page) => new Studio(page).editorReady()],
  [
    'a schema',
    `/studio/a/${name}?schema=input`,
    (page) => page.getByRole('radiogroup', { name: 'Schema as' }).waitFor(),
  ],
  [
    'its versions',
    `/studio/a/${name}/versions`,
    (page) => page.getByRole('heading', { name: 'Versions of', level: 1 }).waitFor(),
  ],
  ['the runs', '/studio/runs', (page) => page.getByRole('heading', { name: 'Runs' }).waitFor()],
  ['the settings', '/studio/settings/keys', (page) => page.getByRole('heading', { name: 'Keys' }).waitFor()],
  [
    'the settings of the editor',
    '/studio/settings/editor',
    (page) => page.getByRole('spinbutton', { name: 'Font size' }).waitFor(),
  ],
  ['the server', '/studio/server', (page) => page.getByRole('heading', { name: 'Server', exact: true }).waitFor()],
];

// 200 % of 1280 × 800 is a window of 640 × 400.
describe.each<[string, Look]>([
  ['200 % zoom', { width: 640, height: 400, scale: 2 }],
  ['a phone', { width: 390, height: 844 }],
  ['a tablet', { width: 768, height: 1024 }],
])('A49 at %s nothing is cut off', (_, look) => {
  test.each(places)('%s', async (_title, url, ready) => {
    await withPage(look, async (page) => {
      await page.goto(url);
      await ready(page);
      await fits(page);
    });
  });
});

test.each(['dark', 'light'] as const)('on a phone the words of a run that ended are whole, %s', async (theme) => {
  await withPage({ width: 390, height: 844, theme }, async (page, studio) => {
    await studio.openAgent(name);
    await studio.start();
    await page.getByRole('navigation', { name: 'Panes' }).getByRole('button', { name: 'Run' }).click();
    await studio.ended(/^Succeeded ·/);
    const cut = await studio.state.evaluate(
      (e) => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > window.innerWidth,
    );
    expect(cut).toBe(false);
    await fits(page);
  });
});

test('A49 who wants no motion gets none', async () => {
  await withPage({}, async (page, studio) => {
    await studio.openAgent(name);
    await studio.start();
    const moving = await page.evaluate(() =>
      [...document.querySelectorAll('*')].flatMap((e) => {
        const { transitionDuration, animationDuration, animationName } = getComputedStyle(e);
        const seconds = (text: string): number =>
          Math.max(...text.split(',').map((part) => parseFloat(part) * (part.includes('ms') ? 0.001 : 1)));
        const moves =
          seconds(transitionDuration) > 0.001 || (animationName !== 'none' && seconds(animationDuration) > 0.001);
        return moves && !e.closest('.monaco-editor') ? [`${e.tagName}.${e.getAttribute('class') ?? ''}`] : [];
      }),
    );
    expect(moving).toEqual([]);
  });
});

test('text from right to left and long names are shown whole or with an ellipsis', async () => {
  await withPage({ width: 1280, height: 800 }, async (page, studio) => {
    await studio.openAgent(name);
    const input = await studio.panel('Input');
    expect(await input.getByRole('textbox', { name: arabic }).inputValue()).toBe(arabic);
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    expect(await studio.result()).toMatchObject({ text: arabic });
    await fits(page);
  });
});

test('a tree of 500 files and a list of 1,000 agents stay in hand', async () => {
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
  await withPage({}, async (page, studio) => {
    await studio.openAgent(name);
    const tree = page.getByRole('tree', { name: 'Files' });
    const first = tree.getByRole('treeitem', { name: 'part-0.json' });
    await first.focus();
    expect(await first.getAttribute('aria-setsize')).toBe('499');
    expect(await tree.getByRole('treeitem').count()).toBeLessThan(80);
    await page.keyboard.press('End');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('main.js entry');
    const side = page.getByRole('navigation', { name: 'Agents and files' });
    await side.getByText(/^Drafts\s*50\+$/).waitFor();
    await side.getByRole('searchbox', { name: 'Search agents' }).fill('many-999');
    await side.getByRole('link', { name: /many-999/ }).waitFor();
    await expect.poll(() => side.getByRole('link').count()).toBe(1);
  });
}, 180_000);
