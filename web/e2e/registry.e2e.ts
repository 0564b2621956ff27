// The public registry: find, filter, read and copy agents of other workspaces.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, openSession, signIn, type Session } from './kit/browser';
import { hold } from './kit/hold';
import { must, publishedAgent, saveDraft } from './kit/seed';
import { countChanges, typeAtOnce } from './kit/typing';

let atelier: Atelier;
let browser: Browser;
let session: Session;
let page: Page;

const forecast = {
  name: 'forecast',
  title: 'Forecast',
  description: 'Says tomorrow’s weather of a city.',
  tags: ['sky', 'demo'],
  language: 'typescript',
  entrypoint: 'main.ts',
  files: {
    'main.ts': "import { say } from './lib/say';\nexport default (input: Input) => ({ text: say(input.city) });\n",
    'lib/say.ts': 'export const say = (city: string): string => `Sun in ${city}`;\n',
    'README.md':
      '# How\n\nAsk for a **city**.\nIt answers at once, as [told](https://example.com/told).\n\n' +
      '![A map](https://example.com/map.png) <img src="https://example.com/spy.png">\n\n' +
      '| Unit | Means |\n| - | - |\n| metric | °C |\n\n```js\nrun();\n```\n',
    'data.bin': { base64: '/wD/AA==' },
  },
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Where' }, days: { type: 'integer', default: 3 } },
    required: ['city'],
  },
  outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  secrets: ['API_KEY'],
  environment: { UNITS: 'metric' },
  capabilities: { hosts: ['api.example.com:443'] },
  safetyFlags: ['external_call'],
};

/** Lists an agent of another workspace as a server administrator. */
async function listElsewhere(): Promise<void> {
  const other = await openSession(browser, atelier);
  await other.page.goto(atelier.signInLink);
  await other.page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
  const ask = async (path: string, data: unknown, workspace?: string): Promise<void> => {
    const headers = { Origin: atelier.url, ...(workspace === undefined ? {} : { 'X-Workspace': workspace }) };
    const answer = await other.context.request.post(`/api/v1${path}`, { data, headers });
    if (!answer.ok()) throw new Error(`${path}: ${String(answer.status())} ${await answer.text()}`);
  };
  await ask('/workspaces', { name: 'acme', title: 'Acme' });
  await ask(
    '/code-agents',
    { name: 'echo', title: 'Echo', description: 'Says it again.', tags: ['sky'], language: 'bash', code: 'cat\n' },
    'acme',
  );
  await ask('/code-agents/echo/versions', { version: '1.0.0', changelog: 'The only one.' }, 'acme');
  await ask('/code-agents/echo/publish', { public: true }, 'acme');
  await other.close();
}

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  await must(atelier, 'POST', '/code-agents', forecast);
  await must(atelier, 'POST', '/code-agents/forecast/versions', { version: '1.0.0', changelog: 'Sun.' });
  await saveDraft(atelier, 'forecast', {
    files: { ...forecast.files, 'lib/say.ts': 'export const say = (city: string): string => `Fog in ${city}`;\n' },
  });
  await must(atelier, 'POST', '/code-agents/forecast/versions', { version: '1.1.0', changelog: 'Fog.' });
  const reason = 'It always says sun.';
  await must(atelier, 'PATCH', '/code-agents/forecast/versions/1.0.0', {
    deprecated: true,
    reason,
    successor: 'forecast@1.1.0',
  });
  await must(atelier, 'POST', '/code-agents/forecast/publish', { public: true });
  await listElsewhere();
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});
beforeEach(async () => {
  session = await signIn(browser, atelier, { width: 1280, height: 800 });
  page = session.page;
});
afterEach(() => session.close());

const agents = () => page.getByRole('table', { name: 'Listed agents' });
const names = (): Promise<string[]> => agents().getByRole('link').allTextContents();

describe('the list', () => {
  test('is narrowed by words, language and tag, as the address says, and Back and Forward follow', async () => {
    await page.goto('/studio/registry');
    await agents().waitFor();
    expect(await names()).toEqual(['echo', 'forecast']);
    await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: 'Bash' });
    await page.waitForURL('**/registry?lang=bash');
    await expect.poll(names).toEqual(['echo']);
    await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: 'All languages' });
    await expect.poll(names).toEqual(['echo', 'forecast']);
    await page.getByRole('button', { name: 'Only the tag demo' }).click();
    await page.waitForURL('**/registry?tag=demo');
    await expect.poll(names).toEqual(['forecast']);
    await page.goBack();
    await expect.poll(names).toEqual(['echo', 'forecast']);
    await page.goForward();
    await expect.poll(names).toEqual(['forecast']);
    await page.getByRole('button', { name: 'Any tag, not only demo' }).click();
    await page.waitForURL('**/registry');
    await expect.poll(names).toEqual(['echo', 'forecast']);
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(false);
  });

  test('shows results while a user types, and updates the address after a pause', async () => {
    await page.goto('/studio/registry');
    await agents().waitFor();
    const changes = await countChanges(page);
    const box = page.getByRole('searchbox', { name: 'Search the registry' });
    await box.focus();
    const text = 'nothing like it'.repeat(10);
    expect(await typeAtOnce(box, text)).toEqual({ value: text, changes: 0 });
    await page.getByText('Nothing matches.').waitFor();
    await page.waitForURL('**/registry?q=nothing+like+it*');
    expect(await changes()).toBe(1);
    await box.fill('again');
    await box.press('Enter');
    await page.waitForURL('**/registry?q=again');
    await expect.poll(names).toEqual(['echo']);
    await page.goBack();
    await page.waitForURL('**/registry');
    await expect.poll(() => box.inputValue()).toBe('');
    await expect.poll(names).toEqual(['echo', 'forecast']);
  });
});

test('an agent of the workspace is listed from the page', async () => {
  await publishedAgent(atelier, 'quiet');
  await page.goto('/studio/registry');
  await agents().waitFor();
  expect(await names()).not.toContain('quiet');
  await page.getByRole('button', { name: 'List an agent…' }).click();
  const dialog = page.getByRole('dialog', { name: 'List an agent' });
  await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('quiet');
  await dialog.getByRole('button', { name: 'List', exact: true }).click();
  await expect.poll(names).toContain('quiet');
  await page.getByRole('row').filter({ hasText: 'quiet' }).getByText('just now').waitFor();
  await must(atelier, 'POST', '/code-agents/quiet/publish', { public: false });
});

test('the search text is unchanged, whatever characters it has', async () => {
  await page.goto('/studio/registry');
  const box = page.getByRole('searchbox', { name: 'Search the registry' });
  await box.fill('c++ 50%ab &');
  await box.press('Enter');
  await page.waitForURL('**/registry?q=c%2B%2B+50%25ab+%26');
  expect(await box.inputValue()).toBe('c++ 50%ab &');
});

test('text typed before Back does not appear on the previous page', async () => {
  await page.clock.install();
  await page.goto('/studio/registry?lang=python');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Public registry' }).click();
  await page.waitForURL('**/studio/registry');
  const box = page.getByRole('searchbox', { name: 'Search the registry' });
  await box.waitFor();
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
  await box.fill('echo');
  await page.goBack();
  await page.waitForURL('**/studio/registry?lang=python');
  await page.clock.runFor(1000); // longer than the debounce time
  expect(new URL(page.url()).search).toBe('?lang=python');
  expect(await box.inputValue()).toBe('');
});

describe('an agent', () => {
  test('tells what it is, takes, gives, needs and holds, and its versions', async () => {
    await page.goto('/studio/registry');
    await agents().getByRole('link', { name: 'forecast' }).click();
    await page.waitForURL('**/registry/default/forecast');
    await page.getByRole('heading', { level: 1, name: 'forecast' }).waitFor();
    const main = page.getByRole('main');
    await main.getByText('Says tomorrow’s weather of a city.').waitFor();
    await main.getByText('Listed by Default (this workspace)').waitFor();
    const input = page.getByRole('region', { name: 'Input' }).getByRole('row');
    expect(await input.nth(1).getByRole('cell').allTextContents()).toEqual(['city', 'stringWhere', 'required', '']);
    expect(await input.nth(2).getByRole('cell').allTextContents()).toEqual(['days', 'integer', 'optional', '3']);
    const needs = page.getByRole('region', { name: 'Requirements' });
    for (const text of ['api.example.com:443', 'API_KEY', 'UNITS', 'External call'])
      await needs.getByText(text).waitFor();
    const readMe = page.getByRole('region', { name: 'Read me' });
    await readMe.getByRole('heading', { name: 'How', level: 3 }).waitFor();
    await readMe.getByText('It answers at once').waitFor();
    expect(await readMe.getByRole('link', { name: 'told' }).getAttribute('rel')).toBe('noreferrer noopener');
    await readMe.getByRole('cell', { name: 'metric' }).waitFor();
    await readMe.getByText('A map <img').waitFor(); // shown as text; no picture is requested
    expect(await readMe.getByRole('img').count()).toBe(0);
    const versions = page.getByRole('list', { name: 'Versions of forecast' }).getByRole('listitem');
    expect(await versions.count()).toBe(2);
    expect(await versions.nth(0).innerText()).toMatch(/^1\.1\.0\s+latest\s+Fog\./);
    expect(await versions.nth(1).innerText()).toMatch(/^1\.0\.0\s+deprecated\s+It always says sun\.\s+Sun\./);
  });

  test('keeps the focus on the version list while another version loads, then scrolls to the top', async () => {
    await page.goto('/studio/registry/default/forecast');
    const chosen = page.getByRole('combobox', { name: 'Version' });
    await chosen.waitFor();
    const release = await hold(page, '**/registry/default/forecast/versions/1.0.0');
    await chosen.focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForURL('**/forecast?v=1.0.0');
    expect(await chosen.inputValue()).toBe('1.0.0');
    release();
    await page.getByRole('note').filter({ hasText: 'It always says sun.' }).waitFor();
    expect(await chosen.evaluate((list) => list === document.activeElement)).toBe(true);
    await page.getByRole('list', { name: 'Versions of forecast' }).getByRole('link', { name: '1.1.0' }).click();
    await page.waitForURL('**/forecast?v=1.1.0');
    await expect.poll(async () => (await page.getByRole('heading', { level: 1 }).boundingBox())?.y).toBeGreaterThan(0);
  });

  test('shows that another version is loading, from any control, and offers a retry', async () => {
    await page.clock.install();
    await page.goto('/studio/registry/default/forecast');
    const older = page.getByRole('list', { name: 'Versions of forecast' }).getByRole('link', { name: '1.0.0' });
    await older.waitFor();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/versions/1.0.0')) asked++;
    });
    const release = await hold(page, '**/registry/default/forecast/versions/1.0.0');
    const busy = page.getByRole('main').locator('[aria-busy=true]');
    expect(await busy.count()).toBe(0);
    await older.click();
    const said = page
      .getByRole('main')
      .getByRole('status')
      .filter({ hasText: /oading 1\.0\.0…$/ });
    await page.clock.fastForward(200);
    await said.filter({ hasText: /^Loading/ }).waitFor();
    expect((await said.boundingBox())?.y).toBeGreaterThan(0);
    expect(await busy.count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await page.clock.fastForward(5000);
    await said.filter({ hasText: /^Still loading/ }).waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => asked).toBe(2);
    release();
    await page.getByRole('note').filter({ hasText: 'It always says sun.' }).waitFor();
    expect([await said.count(), await busy.count()]).toEqual([0, 0]);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('shows the files of the version in the address, and a file', async () => {
    await page.goto('/studio/registry/default/forecast');
    const source = page.getByRole('region', { name: 'Source' });
    await source.getByRole('textbox', { name: 'Code editor, main.ts, read only' }).waitFor({ state: 'attached' });
    await source.getByRole('link', { name: 'lib/say.ts' }).click();
    await page.waitForURL('**/forecast?file=lib/say.ts');
    const code = source.getByRole('region', { name: 'Content of lib/say.ts' });
    await code.getByText('Fog in').first().waitFor();
    await page.getByRole('combobox', { name: 'Version' }).selectOption({ label: '1.0.0 · deprecated' });
    await page.waitForURL('**/forecast?v=1.0.0&file=lib/say.ts');
    await page
      .getByRole('note')
      .filter({ hasText: '1.0.0 is deprecated. It always says sun. Use forecast@1.1.0.' })
      .waitFor();
    await page.goto('/studio/registry/default/forecast?v=1.0.0&file=lib/say.ts');
    await code.getByText('Sun in').first().waitFor();
    await source.getByRole('link', { name: 'data.bin' }).click();
    await source
      .getByText(/data\.bin/)
      .last()
      .waitFor();
    await source.getByRole('button', { name: 'Download' }).waitFor();
  });

  test('list text stands next to its markers in both directions', async () => {
    const lists = '- one\n- שתיים\n\n1. loose\n\n2. רופף\n\n* אחת\n* two\n';
    await must(atelier, 'POST', '/code-agents', {
      ...forecast,
      name: 'both-ways',
      files: { ...forecast.files, 'README.md': lists },
    });
    await must(atelier, 'POST', '/code-agents/both-ways/versions', { version: '1.0.0', changelog: '' });
    await must(atelier, 'POST', '/code-agents/both-ways/publish', { public: true });
    await page.goto('/studio/registry/default/both-ways');
    const items = page.getByRole('region', { name: 'Read me' }).getByRole('listitem');
    await items.last().waitFor();
    const away = await items.evaluateAll((all) =>
      all.map((item) => {
        const words = new Range();
        words.selectNodeContents(item.querySelector('p') ?? item);
        const [shown, box] = [words.getBoundingClientRect(), item.getBoundingClientRect()];
        const way = getComputedStyle(item).direction;
        return { way, px: Math.round(way === 'rtl' ? box.right - shown.right : shown.left - box.left) };
      }),
    );
    expect(away.map(({ way }) => way)).toEqual(['ltr', 'ltr', 'ltr', 'ltr', 'rtl', 'rtl']);
    expect(away.map(({ px }) => px)).toEqual([0, 0, 0, 0, 0, 0]);
    await must(atelier, 'DELETE', '/code-agents/both-ways');
  });

  test('of one’s own is referenced, exported and opened', async () => {
    await page.goto('/studio/registry/default/forecast');
    await page.getByRole('button', { name: 'Copy: Reference' }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('forecast@1.1.0');
    await page.getByRole('button', { name: 'Copy: Pinned by digest' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toMatch(/^forecast@sha256:[0-9a-f]{64}$/);
    await page.getByRole('button', { name: 'Export as tool' }).click();
    const dialog = page.getByRole('dialog', { name: /forecast/ });
    await dialog.getByRole('region', { name: 'Manifest' }).getByText('forecast').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Open in the editor' }).click();
    await page.waitForURL('**/a/forecast@1.1.0');
  });

  test('of another workspace is read and copied, with the keyboard alone', async () => {
    await page.goto('/studio/registry/acme/echo');
    await page.getByText('Listed by acme ·').waitFor();
    await page.getByText(/^Runs, references and tools name agents of your own workspace/).waitFor();
    await page
      .getByRole('region', { name: 'Copy from a terminal' })
      .getByText('atelier registry copy acme/echo --version 1.0.0')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Export as tool' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Copy to my workspace…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Copy echo 1.0.0' }).getByRole('textbox').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/a/echo');
    await page.getByRole('heading', { name: 'echo', level: 1 }).waitFor();
  });

  test('a missing agent or version shows a message and a link', async () => {
    await page.goto('/studio/registry/acme/nothing');
    await page.getByText('There is no agent acme/nothing in the public registry.').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Public registry' }).click();
    await page.waitForURL('**/registry');
    await page.goto('/studio/registry/default/forecast?v=9.9.9');
    await page.getByText('There is no version forecast@9.9.9').waitFor();
    await page.getByRole('button', { name: 'Show the latest version' }).click();
    await page.getByRole('heading', { level: 1, name: 'forecast' }).waitFor();
  });

  test('that cannot be loaded says why, and is tried again', async () => {
    let broken = true;
    await page.route('**/code-agents/registry/default/forecast', (route) =>
      broken
        ? route.fulfill({ status: 422, contentType: 'application/problem+json', body: '{"detail":"Not today."}' })
        : route.continue(),
    );
    await page.goto('/studio/registry/default/forecast');
    await page.getByText('The agent could not be loaded. Not today.').waitFor();
    broken = false;
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('heading', { level: 1, name: 'forecast' }).waitFor();
  });

  // This test is last because it renames the agent that earlier tests use.
  test('that has another name by now is shown under it, with the version and file that were asked for', async () => {
    await must(atelier, 'PATCH', '/code-agents/forecast', { name: 'outlook' });
    await page.goto('/studio/registry/default/forecast?v=1.0.0&file=lib/say.ts');
    await page.waitForURL('**/registry/default/outlook?v=1.0.0&file=lib/say.ts');
    await page.getByRole('heading', { level: 1, name: 'outlook' }).waitFor();
  });
});
