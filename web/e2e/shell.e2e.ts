// The Studio frame: addresses, back button, palette, agent list and shortcut list.
import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { hold } from './kit/hold';
import { must, publishedAgent } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

async function agent(name: string): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'typescript',
    entrypoint: 'main.ts',
    files: {
      'main.ts': "import { warm } from './lib/util';\nexport default () => warm(1);\n",
      'lib/util.ts':
        Array.from({ length: 20 }, (_, n) => `export const n${n} = ${n};`).join('\n') +
        '\nexport const warm = (n: number) => n > 0;\n',
    },
  });
}

const tabs = () => page.getByRole('tablist', { name: 'Open files' });

describe('an address', () => {
  test('A03 names the file, the line and the panel', async () => {
    await agent('linked');
    await page.goto('/studio/a/linked?file=lib/util.ts&line=12&panel=console');
    await studio.editorReady();
    await tabs().getByRole('tab', { name: 'util.ts', selected: true }).waitFor();
    await page.getByText('Ln 12, Col 1').waitFor();
    await page.getByRole('tab', { name: 'Console', selected: true }).waitFor();
  });

  test('A04 is followed back and forward over agents and runs', async () => {
    await agent('one');
    await agent('two');
    await studio.openAgent('one');
    await page.getByRole('link', { name: /^TypeScript ?two/ }).click();
    await page.waitForURL('**/a/two*');
    await studio.editorReady();
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    await page.waitForURL(/\/a\/two\?panel=result&run=/); // the end of a run switches to the result
    const there = page.url();
    await page.goBack();
    await page.waitForURL((url) => url.pathname.endsWith('/a/one'));
    await page.getByRole('textbox', { name: /main\.ts/ }).waitFor({ state: 'attached' });
    await page.goForward();
    await page.waitForURL((url) => url.pathname.endsWith('/a/two'));
    await page.waitForURL(there);
    await studio.ended(/^Succeeded ·/);
    await page.getByRole('tab', { name: 'Result', selected: true }).waitFor();
  });

  /** Opens an agent whose early answers arrive before the page's code. */
  async function openEarly(name: string): Promise<void> {
    let open = (): void => undefined;
    const opened = new Promise<void>((done) => (open = done));
    await page.route(/assets\/index-.*\.js$/, (route) => opened.then(() => route.continue()));
    const answers = ['/api/v1/session', `/api/v1/code-agents/${name}`].map((path) =>
      page.waitForResponse((answer) => new URL(answer.url()).pathname === path),
    );
    await page.goto(`/studio/a/${name}`, { waitUntil: 'commit' });
    for (const answer of answers) {
      expect((await answer).status()).toBe(200);
      await (await answer).finished();
    }
    open();
    await studio.editorReady();
  }

  test('of an agent is answered before the code of the page is here, and once', async () => {
    await agent('early');
    const asked: string[] = [];
    const paths = ['/api/v1/session', '/api/v1/code-agents/early'];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (paths.includes(pathname)) asked.push(pathname);
    });
    await openEarly('early');
    await studio.saved();
    expect(asked.sort()).toEqual([...paths].sort());
  });

  test('an early answer is fetched again at the next visit', async () => {
    await agent('visited');
    await openEarly('visited');
    await studio.replaceCode('export default () => "edited";\n');
    await page.getByRole('link', { name: 'Atelier, all agents' }).click();
    await page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'visited' }).click();
    await studio.editorReady();
    await page.locator('.view-line').filter({ hasText: 'edited' }).waitFor();
  });

  test('of a draft shows what was saved, also on the way back from a version', async () => {
    await publishedAgent(atelier, 'returned');
    await studio.openAgent('returned');
    await studio.replaceCode('export default () => "edited";\n');
    await page.evaluate(() => history.pushState(null, '', '/studio/a/returned@1.0.0'));
    const edited = page.locator('.view-line').filter({ hasText: 'edited' });
    await edited.waitFor({ state: 'detached' });
    await studio.editorReady();
    await page.goBack();
    await edited.waitFor();
  });

  test('a late early answer causes no second request', async () => {
    await agent('late');
    let open = (): void => undefined;
    const opened = new Promise<void>((done) => (open = done));
    await page.route(/\/api\/v1\/code-agents\/late$/, (route) => opened.then(() => route.continue()), { times: 1 });
    await page.goto('/studio/a/late', { waitUntil: 'commit' });
    await page.getByRole('navigation', { name: 'Agents and files' }).waitFor(); // the page has read the early answer
    open();
    await studio.editorReady();
    const left = await page.evaluate(() => (window as unknown as { asked: { answers: object } }).asked.answers);
    expect(left).toEqual({});
  });

  test('of an agent is not asked by a script that comes after the code', async () => {
    await agent('slow');
    let open = (): void => undefined;
    const opened = new Promise<void>((done) => (open = done));
    await page.route(/\/ask\.js$/, (route) => opened.then(() => route.continue()));
    await page.goto('/studio/a/slow', { waitUntil: 'commit' });
    await studio.editorReady();
    const ask = page.locator('script[src$="ask.js"]');
    const ran = await ask.evaluateHandle((script) => ({
      done: new Promise((done) => ((script as HTMLElement).onload = done)),
    }));
    open();
    const left = await ran.evaluate(async ({ done }) => {
      await done;
      return (window as unknown as { asked: { answers: object } }).asked.answers;
    });
    expect(left).toEqual({});
  });

  test('of an agent is asked again when the early question failed', async () => {
    await agent('again');
    const asked: string[] = [];
    await page.route(/\/api\/v1\/(session|code-agents\/again)$/, (route) => {
      asked.push(new URL(route.request().url()).pathname);
      return asked.length > 2 ? route.continue() : route.abort();
    });
    await studio.openAgent('again');
    await tabs().getByRole('tab', { name: 'main.ts', selected: true }).waitFor();
    const paths = ['/api/v1/code-agents/again', '/api/v1/session'];
    expect(asked.slice(0, 2).sort()).toEqual(paths);
    expect(asked.slice(2)).toEqual(expect.arrayContaining(paths));
  });

  test('A07 of an agent that is not there offers to create it', async () => {
    const answer = page.waitForResponse((r) => r.url().includes('/api/v1/code-agents/nobody'));
    await page.goto('/studio/a/nobody');
    expect((await answer).status()).toBe(404);
    await page
      .getByText(/nobody/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'All agents' }).waitFor();
    await page.getByRole('button', { name: 'Create it' }).click();
    await expect
      .poll(() => page.getByRole('dialog').getByRole('textbox', { name: /^Name/ }).inputValue())
      .toBe('nobody');
  });
});

describe('the palette', () => {
  test('A05 switches the theme, which stays', async () => {
    await studio.home();
    const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
    expect(await theme()).toBe('dark');
    await page.keyboard.press('ControlOrMeta+K');
    const typed = page.getByRole('combobox', { name: 'Command palette' });
    await expect.poll(() => typed.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('them');
    await page.getByRole('option', { name: 'Switch theme', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(theme).toBe('light');
    await page.reload();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    expect(await theme()).toBe('light');
  });

  test('gives the focus back, also after a dialog that it led to', async () => {
    await page.goto('/studio/');
    const account = page.getByRole('button', { name: 'Account' });
    const focused = () => account.evaluate((button) => button === document.activeElement);
    await account.focus();
    await page.keyboard.press('ControlOrMeta+K');
    const typed = page.getByRole('combobox', { name: 'Command palette' });
    await typed.press('Escape');
    await expect.poll(focused).toBe(true);
    await page.keyboard.press('ControlOrMeta+K');
    await typed.fill('new agent');
    await typed.press('Enter');
    await page.getByRole('dialog', { name: 'New agent' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe(true);
  });

  test('A50 has every command that has a key, and so has the list of keys', async () => {
    await agent('keyed');
    await must(atelier, 'POST', '/code-agents/keyed/versions', { version: '1.0.0', changelog: '' });
    await studio.openAgent('keyed');
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    await page.getByRole('button', { name: 'Account' }).focus();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.waitFor();
    const named = async (): Promise<string[]> => {
      const rows = await list.getByRole('term').allInnerTexts();
      const shown = await list.getByRole('definition').allInnerTexts();
      return rows.map((row, i) => `${row} ${shown[i] ?? ''}`).sort();
    };
    const keys = await named();
    expect(keys.length).toBeGreaterThan(15);
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    await page.keyboard.press('ControlOrMeta+K');
    const options = page.getByRole('listbox').getByRole('group', { name: 'Commands' }).getByRole('option');
    await options.first().waitFor();
    const offered = (await options.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    // Two commands need a running run; the third is the palette itself.
    const elsewhere = /^(Stop|Command palette)/;
    expect(keys.filter((k) => !elsewhere.test(k) && !offered.includes(k))).toEqual([]);
  });
});

describe('the list of agents', () => {
  test('A06 is narrowed by what is typed, and counts', async () => {
    for (const name of ['weasel', 'weaver', 'mole']) await agent(name);
    await must(atelier, 'POST', '/code-agents/weaver/versions', { version: '1.0.0', changelog: '' });
    await studio.openAgent('mole');
    const side = page.getByRole('navigation', { name: 'Agents and files' });
    const search = side.getByRole('searchbox', { name: /agents/i });
    await search.fill('wea');
    await side.getByRole('link', { name: /mole/ }).waitFor({ state: 'hidden' });
    await expect.poll(() => side.getByRole('link', { name: /wea/ }).count()).toBe(2);
    await side.getByText(/^Drafts\s*1$/).waitFor();
    await side.getByText(/^Published\s*1$/).waitFor();
    await search.press('Escape');
    await side.getByRole('link', { name: /mole/ }).waitFor();
    expect(await search.inputValue()).toBe('');
  });

  test('late work of a closed dialog closes no other dialog and does not navigate', async () => {
    await agent('leaving');
    await studio.versions('leaving');
    const release = await hold(page, '**/code-agents/*', 'DELETE');
    await studio.choose('Actions for leaving', 'Delete…', 'main');
    const asking = page.getByRole('dialog', { name: 'Delete leaving?' });
    const sent = page.waitForRequest((request) => request.method() === 'DELETE');
    await asking.getByRole('button', { name: 'Delete' }).click();
    await sent;
    await page.keyboard.press('Escape');
    await asking.waitFor({ state: 'detached' });
    await studio.command('new agent', 'New agent…');
    const next = page.getByRole('dialog', { name: 'New agent' });
    const name = next.getByRole('textbox', { name: 'Name' });
    await name.fill('typed');
    release();
    await page.getByText('Deleted leaving').waitFor();
    expect(await name.inputValue()).toBe('typed');
    expect(new URL(page.url()).pathname).toBe('/studio/a/leaving/versions');
  });

  test('A44 the workspace is usable while the registry is empty', async () => {
    await agent('local');
    await page.goto('/studio/registry');
    await page.getByRole('heading', { name: 'Nothing is listed yet.' }).waitFor();
    await page.getByRole('navigation', { name: 'Agents and files' }).getByRole('link', { name: /local/ }).waitFor();
    expect(await page.getByRole('region', { name: 'Notices' }).getByRole('button').count()).toBe(0);
  });
});
