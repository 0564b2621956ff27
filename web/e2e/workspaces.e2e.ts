// Workspaces and quotas on the server administrator's page, and pages that require a role.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { Studio } from './kit/studio';
import { launch, openSession, signIn } from './kit/browser';
import { askAgain, refuse } from './kit/refuse';
import { must, publishedAgent } from './kit/seed';

let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  await publishedAgent(atelier, 'weather');
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

describe('workspaces', () => {
  for (const [theme, width] of [
    ['dark', 1280],
    ['light', 390],
  ] as const) {
    test(`one is made, given quotas, renamed, entered and closed (${theme}, ${width})`, async () => {
      const session = await signIn(browser, atelier, { theme, width, height: 900 });
      const { page } = session;
      const name = `acme-${theme}`;
      const title = `Acme ${theme}`;
      const dialog = page.getByRole('dialog');
      await page.goto('/studio/');
      await new Studio(page).manage();
      await page.getByRole('menuitem', { name: 'Workspaces' }).click();
      const table = page.getByRole('table', { name: 'Workspaces' });
      const rows = table.getByRole('row').filter({ has: page.getByRole('cell') });
      const row = rows.filter({ hasText: name });
      await rows.getByText('You are here').waitFor();
      expect(await page.getByRole('button', { name: /^Close / }).count()).toBe((await rows.count()) - 1);

      await page.getByRole('button', { name: 'New workspace…' }).click();
      await dialog.getByRole('button', { name: 'Create workspace' }).click();
      await dialog.getByText('Enter a name.').waitFor();
      for (const [wrong, says] of [
        ['Acme Ltd', /lower-case|letters/],
        ['default', /taken|has this name|exists/],
      ] as const) {
        await dialog.getByLabel('Name').fill(wrong);
        await dialog.getByRole('button', { name: 'Create workspace' }).click();
        await dialog.getByText(says).first().waitFor();
        expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
      }
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Title').fill(title);
      await dialog.getByRole('button', { name: 'Create workspace' }).click();
      await dialog.waitFor({ state: 'detached' });
      await row.getByText('Administrator', { exact: true }).waitFor();
      expect(await violations(page)).toEqual([]);

      const allow = await refuse(page, '**/api/v1/quotas/*');
      await row.getByRole('button', { name: `Quotas of ${title}` }).click();
      await askAgain(dialog, 'The quotas could not be loaded.', allow);
      await dialog.getByText('Used 0, no limit.').first().waitFor();
      expect(await dialog.getByLabel('Runs per day').inputValue()).toBe('');
      await dialog.getByLabel('Runs per day').fill('many');
      await dialog.getByLabel('Storage').fill('2 GB');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('Enter a whole number, 0 or more.').waitFor();
      await dialog.getByText('such as 2 GiB').first().waitFor();
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel('Runs per day').fill('5');
      await dialog.getByLabel('Storage').fill('1.5 GiB');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await row.getByRole('button', { name: `Quotas of ${title}` }).click();
      await dialog.getByText('Used 0 of 5.').waitFor();
      expect(await dialog.getByLabel('Storage').inputValue()).toBe('1536 MiB');
      await dialog.getByLabel('Runs per day').fill('');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      const told = (await must(atelier, 'GET', `/quotas/${name}`)) as { own: unknown };
      expect(told.own).toEqual({ storageBytes: 1.5 * 1024 ** 3 });

      await row.getByRole('button', { name: `Enter ${title}` }).click();
      await page.getByRole('heading', { name: 'Welcome to Atelier', level: 1 }).waitFor();
      await page.goto('/studio/people');
      await page.getByRole('button', { name: 'Rename the workspace…' }).click();
      await dialog.getByLabel('Title').fill('  ');
      await dialog.getByRole('button', { name: 'Rename', exact: true }).click();
      await dialog.getByText(/title/i).nth(1).waitFor();
      await dialog.getByLabel('Title').fill(`${title} Ltd`);
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Rename', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText(`The members of ${title} Ltd.`).waitFor();

      await page.goto('/studio/workspaces');
      await page.getByText('are only for server administrators').waitFor();
      expect(await violations(page)).toEqual([]);
      await new Studio(page).manage();
      await page.getByRole('menuitem', { name: 'People' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Workspaces' }).count()).toBe(0);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Go to Default' }).click();
      await page.getByRole('link', { name: 'weather', exact: true }).first().waitFor();

      await page.goto('/studio/workspaces');
      await row.getByRole('button', { name: `Close ${title} Ltd` }).click();
      const close = dialog.getByRole('button', { name: 'Close workspace' });
      await dialog.getByLabel(`Type ${name} to close it`).fill('acme');
      expect(await close.isDisabled()).toBe(true);
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel(`Type ${name} to close it`).fill(name);
      await close.click();
      await row.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Account' }).click();
      expect(await page.getByRole('menuitem', { name: `Go to ${title} Ltd` }).count()).toBe(0);
      await session.close();
    });
  }
});

describe('pages that are not for everybody', () => {
  const all = ['/', '/registry', '/runs', '/skills', '/secrets', '/people', '/tokens', '/workspaces'] as const;

  /** Opens every page and returns those that the visitor may not use. */
  async function refused(scopes: string[], agents: string[], look: { theme: 'dark' | 'light'; width: number }) {
    const made = (await must(atelier, 'POST', '/tokens', { name: 'narrow', scopes, agents })) as { secret: string };
    const session = await openSession(browser, atelier, { ...look, height: 800 });
    const { page } = session;
    const denied: string[] = [];
    page.on('response', (answer) => {
      if (answer.status() === 403) denied.push(answer.url());
    });
    await session.context.request.post('/api/v1/session', { data: { token: made.secret } });
    const found: string[] = [];
    for (const path of all) {
      await page.goto(`/studio${path}`);
      const instead = page.getByText(/^You cannot see|are only for server administrators/);
      await page.getByRole('heading', { level: 1 }).or(instead).first().waitFor();
      if (await instead.isVisible()) {
        found.push(path);
        await page.getByRole('button', { name: 'Server capabilities' }).waitFor();
      }
      expect(await violations(page)).toEqual([]);
    }
    return { ...session, found, denied };
  }

  test('a viewer sees no administrator page and no button for a forbidden action', async () => {
    await must(atelier, 'PUT', '/secrets/API_KEY', { value: 'correct-horse-battery' });
    const { page, found, denied, close } = await refused(['read'], [], { theme: 'light', width: 390 });
    expect(found).toEqual(['/tokens', '/workspaces']);
    expect(denied).toEqual([]);
    await page.goto('/studio/secrets');
    await page.getByRole('table', { name: 'Secrets' }).getByText('API_KEY').waitFor();
    for (const name of [/^Replace/, /^Remove/, /^New secret/]) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    await page.goto('/studio/usage');
    await page.getByText('Server administrators can change them.').waitFor();
    await page.goto('/studio/tokens');
    await page.getByRole('button', { name: 'All agents' }).click();
    await page.getByRole('link', { name: 'weather', exact: true }).first().waitFor();
    await close();
  });

  test('a token with only the run scope sees the server page, and reasons on other pages', async () => {
    const { page, found, denied, close } = await refused(['run'], [], { theme: 'dark', width: 1280 });
    expect(found).toEqual([...all]);
    expect(denied).toEqual([]);
    await page.goto('/studio/');
    await page.getByText('This needs the scope read.').waitFor();
    await page.getByRole('button', { name: 'Server capabilities' }).click();
    await page.getByRole('heading', { name: 'Server', level: 1 }).waitFor();
    await close();
  });

  test('a token for one agent is led to it', async () => {
    const { page, found, denied, close } = await refused(['read', 'run'], ['weather'], { theme: 'dark', width: 1280 });
    expect(found).toEqual([...all]);
    expect(denied).toEqual([]);
    await page.goto('/studio/runs');
    await page.getByText('This token works only for weather.').waitFor();
    await page.getByRole('button', { name: 'Open weather' }).click();
    await page.getByRole('button', { name: 'More about weather' }).waitFor();
    await close();
  });
});
