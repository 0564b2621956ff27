// No screen is wider than its window and nothing moves after it is shown, from phone to desktop.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { hold } from './kit/hold';
import { must, program, publishedAgent, saveDraft } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let run: string;
const preRelease = '10.20.30-alpha.beta.gamma.1';
const long = 'an-agent-whose-name-is-as-long-as-a-name-may-be-and-has-no-end';

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  await publishedAgent(atelier, 'weather');
  await publishedAgent(atelier, long);
  const input = { city: 'Oslo' };
  const answer = await must(atelier, 'POST', `/code-agents/${long}/execute`, { version: '1.0.0', input });
  run = (answer as { runId: string }).runId;
  await must(atelier, 'POST', `/code-agents/${long}/publish`, { public: true });
  await must(atelier, 'PUT', '/pins', { owner: 'flow/1', label: 'Morning report', references: [`${long}@1.0.0`] });
  await must(atelier, 'PUT', '/secrets/THE_SIGNING_SECRET_OF_A_WEBHOOK', { value: 'correct-horse-battery' });
  await must(atelier, 'POST', '/tokens', { name: 'nightly', scopes: ['read', 'run', 'write'] });
  await saveDraft(atelier, 'weather', program('Fog'));
  await saveDraft(atelier, long, program('Mist'));
  await must(atelier, 'POST', `/code-agents/${long}/versions`, { version: preRelease, changelog: 'Not yet.' });
  const title = 'Research and early prototypes of the northern department';
  await must(atelier, 'POST', '/workspaces', { name: 'research', title });
  await publishedAgent(atelier, 'weather-of-old');
  const reason = 'The weather tells more.';
  await must(atelier, 'PATCH', '/code-agents/weather-of-old/versions/1.0.0', { deprecated: true, reason });
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

const pages = (): string[] => [
  '/',
  '/registry',
  `/registry/default/${long}`,
  '/runs',
  `/runs/${run}`,
  '/server',
  '/skills',
  '/tool-sets',
  '/packages',
  '/secrets',
  '/people',
  '/account',
  '/settings/appearance',
  '/settings/keys',
  '/settings/editor',
  '/settings/about',
  '/workspaces',
  '/tokens',
  '/approvals',
  '/blocked',
  '/rules',
  `/a/${long}`,
  `/a/${long}/versions`,
  '/nowhere',
];

const shifts = (): void => {
  Object.assign(window, { moved: 0 });
  new PerformanceObserver((list) => {
    const entries = list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[];
    const sum = entries.filter((e) => !e.hadRecentInput).reduce((all, e) => all + e.value, 0);
    Object.assign(window, { moved: ((window as Window & { moved?: number }).moved ?? 0) + sum });
  }).observe({ type: 'layout-shift', buffered: true });
};

/** Waits until the page has loaded everything: server status, its own content, and code in the editor. */
async function settled(page: Page, path: string): Promise<void> {
  await page.getByRole('link', { name: /^Sandbox:/, includeHidden: true }).waitFor({ state: 'attached' });
  await page.waitForFunction(() => document.querySelector('[data-waiting], [data-shape]') === null);
  if (path === `/a/${long}` || path === `/registry/default/${long}`)
    await page.getByRole('textbox', { name: /^Code editor/ }).waitFor({ state: 'attached' });
}

/** Finds elements that leave the window or scroll sideways without keyboard access. */
const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    const { scrollWidth, scrollHeight, clientWidth, clientHeight } = document.documentElement;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) found.push('the window scrolls');
    for (const element of document.querySelectorAll<HTMLElement>('#root *, [role=dialog] *')) {
      if (element.closest('.monaco-editor, pre, textarea, .visually-hidden')) continue;
      const { overflowX, visibility } = getComputedStyle(element);
      if (visibility === 'hidden' || !element.checkVisibility()) continue;
      const scrolls = overflowX === 'auto' || overflowX === 'scroll';
      if (scrolls && element.scrollWidth > element.clientWidth && element.tabIndex < 0)
        found.push(`${element.tagName} ${element.className} scrolls sideways`);
    }
    return found;
  });

describe.each([1280, 768, 390])('%i wide', (width) => {
  test('no page is wider than the window, or jumps while it comes', { timeout: 120_000 }, async () => {
    const session = await signIn(browser, atelier, { width, height: 800 });
    const { page } = session;
    await page.addInitScript(shifts);
    for (const path of pages()) {
      await page.goto(`/studio${path}`);
      await settled(page, path);
      expect(await tooWide(page), path).toEqual([]);
      expect(await page.evaluate(() => (window as Window & { moved?: number }).moved), path).toBeLessThan(0.1);
    }
    await session.close();
  });

  test('no dialog is wider than itself', { timeout: 120_000 }, async () => {
    const session = await signIn(browser, atelier, { width, height: 800 });
    const { page } = session;
    const studio = new Studio(page);
    const dialog = page.getByRole('dialog');
    await studio.versions('weather');
    await studio.choose('Actions for 1.0.0', 'Compare with the draft');
    await dialog.getByRole('region', { name: 'Changes of main.js' }).waitFor();
    expect(await tooWide(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await studio.choose('Actions for 1.0.0', 'Export as tool');
    await dialog.getByRole('region', { name: 'Manifest' }).waitFor();
    expect(await tooWide(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Publish the draft…' }).click();
    await dialog.getByRole('region', { name: 'Advice' }).waitFor();
    expect(await tooWide(page)).toEqual([]);
    await session.close();
  });
});

/** Lists header elements that do not fit, by their text. */
const squeezed = (page: Page): Promise<(string | null)[]> =>
  page
    .getByRole('banner')
    .evaluate((header) =>
      [...header.querySelectorAll('*')]
        .filter((e) => e.clientWidth > 1 && e.scrollWidth > e.clientWidth && !e.closest('.visually-hidden'))
        .map((e) => e.textContent),
    );

test.each([760, 900, 1000, 1280])('%i wide, the header has room for the name and all beside it', async (width) => {
  const session = await signIn(browser, atelier, { width, height: 800 });
  const { page } = session;
  const studio = new Studio(page);
  for (const reference of ['weather-of-old', 'weather-of-old@1.0.0']) {
    await studio.openAgent(reference);
    expect(await squeezed(page), reference).toEqual([]);
  }
  await session.close();
});

test('on a phone the menu of pages leads to every page, also from an agent', async () => {
  const session = await signIn(browser, atelier, { width: 390, height: 844 });
  const { page } = session;
  await page.goto('/studio/');
  await page.getByRole('button', { name: 'Go to a page' }).click();
  expect(await page.getByRole('menuitem', { name: 'Agents' }).getAttribute('aria-current')).toBe('page');
  await page.getByRole('menuitem', { name: 'Runs' }).click();
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  await new Studio(page).openAgent('weather-of-old');
  await page.getByRole('button', { name: 'Go to a page' }).click();
  await page.getByRole('menuitem', { name: 'Tool sets' }).click();
  await page.getByRole('heading', { name: 'Tool sets', level: 1 }).waitFor();
  await session.close();
});

test('on a tablet the tables of runs are whole', async () => {
  const session = await signIn(browser, atelier, { width: 768, height: 1024 });
  const { page } = session;
  const room = (e: Element): number => e.scrollWidth - e.clientWidth;
  await page.goto('/studio/runs');
  const runs = page.getByRole('region', { name: 'Runs' });
  await runs.getByRole('row').nth(1).waitFor();
  expect(await runs.evaluate(room)).toBe(0);
  const studio = new Studio(page);
  await studio.openAgent(long);
  const history = await studio.panel('History');
  await history.getByRole('row').nth(1).waitFor();
  expect(await history.locator('div:has(> table)').evaluate(room)).toBe(0);
  await session.close();
});

test('on a phone a row of the history opens its run and has a menu, and each pane is the main landmark', async () => {
  const session = await signIn(browser, atelier, { width: 390, height: 844 });
  const { page } = session;
  const studio = new Studio(page);
  await studio.openAgent(long);
  const panes = page.getByRole('navigation', { name: 'Panes' });
  for (const pane of ['Agent list', 'Run', 'Configuration', 'Code', 'Run']) {
    await panes.getByRole('button', { name: pane }).click();
    await page.getByRole('main').waitFor();
    expect(await page.getByRole('main').count(), pane).toBe(1);
  }
  const row = (await studio.panel('History')).getByRole('row').nth(1);
  await row.getByRole('button', { name: /^Actions for the run of/ }).waitFor();
  expect((await row.boundingBox())?.height).toBeLessThan(56);
  await row.getByRole('button', { name: /^Actions for the run of/ }).click();
  await page.getByRole('menuitem', { name: 'Use this input' }).waitFor();
  await page.keyboard.press('Escape');
  await row.getByRole('cell').nth(3).click();
  await page.getByRole('tab', { name: 'Result', selected: true }).waitFor();
  await session.close();
});

test('on a phone the answers to a dialog have one line', async () => {
  const session = await signIn(browser, atelier, { width: 390, height: 800 });
  const { page } = session;
  const studio = new Studio(page);
  await studio.versions('weather');
  await studio.choose('Actions for 1.0.0', 'New draft from this version', 'main');
  const dialog = page.getByRole('dialog');
  const [cancel, go] = await Promise.all([
    dialog.getByRole('button', { name: 'Cancel' }).boundingBox(),
    dialog.getByRole('button', { name: /^(Replace the draft|Discard)$/ }).boundingBox(),
  ]);
  expect(cancel).not.toBeNull();
  expect(cancel?.y).toBe(go?.y);
  await session.close();
});

test('on a tablet each command of the settings has one line', async () => {
  const session = await signIn(browser, atelier, { width: 768, height: 1024 });
  const { page } = session;
  await page.goto('/studio/settings/keys');
  const change = page.getByRole('button', { name: /^Change the keys of/ });
  await change.first().waitFor();
  const lefts = await change.evaluateAll((all) => all.map((e) => Math.round(e.getBoundingClientRect().left)));
  expect(new Set(lefts).size).toBe(1);
  await session.close();
});

test('content below the samples appears together with them', async () => {
  const session = await signIn(browser, atelier, { width: 390, height: 800 });
  const { page } = session;
  const release = await hold(page, '**/api/v1/samples');
  await page.addInitScript(() => localStorage.setItem('atelier.workspace', 'research')); // this workspace has no agents
  await page.goto('/studio/');
  await page.getByRole('status').filter({ hasText: 'samples' }).waitFor();
  const below = page.getByRole('heading', { name: 'From a draft to a tool' });
  expect(await below.isVisible()).toBe(false);
  release();
  await below.waitFor();
  await session.close();
});

test('loading content shows a placeholder, is announced once and offers a retry', async () => {
  const session = await signIn(browser, atelier, { width: 1280, height: 800 });
  const { page } = session;
  await page.clock.install();
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/code-agents/registry?')) asked++;
  });
  const release = await hold(page, '**/code-agents/registry?*');
  await page.goto('/studio/registry');
  await expect.poll(() => asked).toBeGreaterThan(0); // the page has loaded; its placeholder has the same text
  const main = page.getByRole('main');
  const said = main.getByRole('status');
  await said.filter({ hasText: /^Loading the registry…$/ }).waitFor();
  const form = main.locator('[aria-busy=true]');
  expect((await form.boundingBox())?.height).toBeGreaterThan(100);
  await expect.poll(() => form.evaluate((e) => getComputedStyle(e).visibility)).toBe('visible'); // not immediately
  expect((await said.boundingBox())?.width).toBe(1); // hidden from view
  expect(await form.locator('> *').evaluate((e) => getComputedStyle(e).animationName)).toBe('none'); // as reduced motion requires
  expect(await violations(page)).toEqual([]);
  await page.clock.fastForward(6000);
  await said.filter({ hasText: /^Still loading the registry…$/ }).waitFor();
  expect((await said.boundingBox())?.width).toBeGreaterThan(1);
  const before = asked;
  await main.getByRole('button', { name: 'Retry' }).click();
  await expect.poll(() => asked).toBeGreaterThan(before);
  release();
  await main.getByRole('table', { name: 'Listed agents' }).waitFor();
  expect(await form.count()).toBe(0);
  await session.close();
});

/** Lists header elements that overlap another one, by their text. */
const overlaps = (page: Page): Promise<string[]> =>
  page.getByRole('banner').evaluate((header) => {
    const shown = [...header.querySelectorAll('a, button, h1, [role=status], div > span')].filter(
      (e) => e.getBoundingClientRect().width > 1 && e.checkVisibility(),
    );
    const boxes = shown.map((e) => ({ e, box: e.getBoundingClientRect() }));
    return boxes.flatMap(({ e, box }, i) =>
      boxes
        .slice(i + 1)
        .filter((other) => !e.contains(other.e) && !other.e.contains(e))
        .filter((other) => other.box.left < box.right - 1 && box.left < other.box.right - 1)
        .filter((other) => other.box.top < box.bottom - 1 && box.top < other.box.bottom - 1)
        .map((other) => `${e.textContent} and ${other.e.textContent}`),
    );
  });

test('on a phone nothing in the header lies over anything else, whatever it has to say', async () => {
  const session = await signIn(browser, atelier, { width: 390, height: 800 });
  const { page, context } = session;
  const studio = new Studio(page);
  await studio.openAgent(`${long}@${preRelease}`);
  expect(await overlaps(page)).toEqual([]);
  await studio.openAgent('weather');
  await context.setOffline(true);
  await studio.replace('export default () => 1;\n');
  await studio.draft.filter({ hasText: 'Offline' }).waitFor();
  expect(await overlaps(page)).toEqual([]);
  await context.setOffline(false);
  await studio.saved();
  await session.close();
});

test.each([390, 768])('%i wide, a refusal leaves the name its place', async (width) => {
  const session = await signIn(browser, atelier, { width, height: 800 });
  const { page } = session;
  const studio = new Studio(page);
  await studio.openAgent('weather');
  if (width < 760) await page.getByRole('button', { name: 'Configuration' }).click();
  else await page.getByRole('button', { name: 'Toggle configuration' }).click();
  await page.getByRole('button', { name: /^Network/ }).click();
  const hosts = page.getByRole('textbox', { name: 'Hosts, one per line' });
  await hosts.fill('http://*');
  await studio.draft.filter({ hasText: 'Not saved' }).waitFor();
  expect(await overlaps(page)).toEqual([]);
  const name = await page.getByRole('heading', { level: 1 }).boundingBox();
  expect(name?.width).toBeGreaterThan(30);
  await studio.saving(() => hosts.fill(''));
  await session.close();
});

test.each([
  [1280, true],
  [768, false],
])('%i wide, the switch of the configuration tells whether it is seen', async (width, seen) => {
  const session = await signIn(browser, atelier, { width, height: 800 });
  const { page } = session;
  await new Studio(page).openAgent('weather');
  const toggle = page.getByRole('button', { name: 'Toggle configuration' });
  const configuration = page.getByRole('complementary', { name: 'Configuration' });
  expect(await toggle.getAttribute('aria-expanded')).toBe(String(seen));
  expect(await configuration.isVisible()).toBe(seen);
  await toggle.click();
  await configuration.waitFor({ state: seen ? 'hidden' : 'visible' });
  expect(await toggle.getAttribute('aria-expanded')).toBe(String(!seen));
  await session.close();
});

test('a section that is opened at the edge of the configuration comes into sight', async () => {
  const session = await signIn(browser, atelier, { width: 1280, height: 800 });
  const { page } = session;
  await new Studio(page).openAgent('weather');
  await page.getByRole('button', { name: /^Safety flags/ }).click();
  const [last, frame] = await Promise.all([
    page.getByText('It reaches the hosts granted under Network.').boundingBox(),
    page.getByRole('complementary', { name: 'Configuration' }).boundingBox(),
  ]);
  expect(last && frame && last.y + last.height <= frame.y + frame.height).toBe(true);
  await session.close();
});

test('the bar of the times is whole, however short the run was', async () => {
  const session = await signIn(browser, atelier, { width: 1280, height: 800 });
  const { page } = session;
  await page.route('**/api/v1/runs/*', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { metrics: object };
    const metrics = { ...body.metrics, queuedMs: 0, startMs: 0.2, runMs: 0.1, totalMs: 0.4 };
    await route.fulfill({ response: answer, json: { ...body, metrics } });
  });
  await page.goto(`/studio/runs/${run}`);
  const bar = page.getByRole('heading', { name: 'Time' }).locator('+ div');
  const left = (e: Element): number =>
    e.getBoundingClientRect().right - (e.lastElementChild?.getBoundingClientRect().right ?? 0);
  await bar.waitFor();
  expect(await bar.evaluate(left)).toBeLessThan(1);
  await session.close();
});

test('on a phone a notice leaves the panes in reach', async () => {
  const session = await signIn(browser, atelier, { width: 390, height: 800 });
  const { page } = session;
  await new Studio(page).openAgent('weather');
  await page.keyboard.press('Alt+c');
  const notice = page.getByRole('region', { name: 'Notices' }).getByText('Copied weather').locator('..');
  await notice.waitFor();
  const [told, panes] = await Promise.all([
    notice.boundingBox(),
    page.getByRole('navigation', { name: 'Panes' }).boundingBox(),
  ]);
  expect(told && panes && told.y + told.height <= panes.y).toBe(true);
  await session.close();
});

test('on a phone a menu stays in the window, and its long words end in an ellipsis', async () => {
  const session = await signIn(browser, atelier, { width: 390, height: 800 });
  const { page } = session;
  await page.goto('/studio/');
  await page.getByRole('button', { name: 'Account' }).click();
  const items = page.getByRole('menu').getByRole('menuitem');
  await items.filter({ hasText: 'Research and early' }).waitFor();
  const outside = await items.evaluateAll((all) =>
    all
      .map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }))
      .filter(({ box }) => box.left < 0 || box.right > window.innerWidth || box.bottom > window.innerHeight)
      .map(({ text }) => text),
  );
  expect(outside).toEqual([]);
  await session.close();
});

test('a page has the way to the others in its header, and says which one it is', async () => {
  const session = await signIn(browser, atelier, { width: 1000, height: 800 });
  const { page } = session;
  await page.goto('/studio/');
  const main = page.getByRole('navigation', { name: 'Main' });
  for (const name of ['Runs', 'Public registry', 'Skills', 'Agents']) {
    await main.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(await main.locator('[aria-current=page]').allTextContents()).toEqual([name]);
  }
  expect(await squeezed(page)).toEqual([]);
  await session.close();
});

test('touch targets are larger than mouse targets', async () => {
  const context = await browser.newContext({
    baseURL: atelier.url,
    viewport: { width: 390, height: 800 },
    hasTouch: true,
  });
  await context.request.post('/api/v1/session', { data: { token: atelier.token } });
  const page = await context.newPage();
  await page.goto('/studio/');
  const button = page.getByRole('button', { name: 'New agent…' });
  await button.waitFor();
  expect(await page.evaluate(() => matchMedia('(pointer: coarse)').matches)).toBe(true);
  expect((await button.boundingBox())?.height).toBe(36);
  await context.close();
});
