// A person accepts an invitation, sees what their role allows, and a role change applies at once.
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, openSession, signIn } from './kit/browser';
import { refuse } from './kit/refuse';
import { must, publishedAgent } from './kit/seed';
import { Studio } from './kit/studio';

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

const password = 'correct horse battery';

/** Creates an invitation on the page and returns its link. */
async function invite(page: Page, role: string, note: string): Promise<string> {
  await page.goto('/studio/people');
  await page.getByRole('button', { name: 'Invite…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Role').selectOption(role);
  await dialog.getByLabel('For').fill(note);
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = (await dialog.getByRole('status', { name: 'Link' }).textContent()) ?? '';
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('table', { name: 'Invitations' }).getByText(note, { exact: true }).waitFor();
  return link;
}

test('an invitation that is spent or cut leads on', async () => {
  const stranger = await openSession(browser, atelier);
  await stranger.page.goto('/studio/invitation#ati_spent');
  await stranger.page.getByText(/Ask for a new one/).waitFor();
  expect(await violations(stranger.page)).toEqual([]);
  await stranger.page.getByRole('link', { name: 'Sign in' }).click();
  await stranger.page.getByRole('button', { name: 'Sign in' }).waitFor();
  // The token is no longer in the address. Failed requests are retried.
  let answer = (route: Route): Promise<void> => route.abort();
  await stranger.page.route('**/api/v1/invitations/read', (route) => answer(route));
  await stranger.page.goto('/studio/invitation#ati_spent');
  const failed = stranger.page.getByRole('alert').filter({ has: stranger.page.getByRole('button', { name: 'Retry' }) });
  await failed.filter({ hasText: 'cannot be reached' }).waitFor();
  answer = (route) => route.fulfill({ status: 429, json: { title: 'Too many at once.' } });
  await failed.getByRole('button').click();
  await failed.filter({ hasText: 'Too many at once.' }).waitFor();
  answer = (route) => route.continue();
  await failed.getByRole('button').click();
  await stranger.page.getByText(/Ask for a new one/).waitFor();
  expect(await failed.count()).toBe(0);
  await stranger.close();
  const admin = await signIn(browser, atelier, { theme: 'light', width: 390, height: 800 });
  await admin.page.goto('/studio/invitation');
  await admin.page.getByText('The link is incomplete').waitFor();
  await admin.page.getByRole('link', { name: 'Open the Studio' }).click();
  await admin.page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  await admin.close();
});

describe('people', () => {
  for (const [theme, width] of [
    ['dark', 1280],
    ['light', 390],
  ] as const) {
    test(`an invited viewer reads, and writes when the role changes (${theme}, ${width})`, async () => {
      const admin = await signIn(browser, atelier, { theme, width, height: 800 });
      const name = `grace-${theme}`;
      const link = await invite(admin.page, 'viewer', name);
      const session = await openSession(browser, atelier, { theme, width: 1280, height: 800 });
      const { page } = session;
      const studio = new Studio(page);
      await page.goto(link);
      await page.getByText('invites you to the workspace').waitFor();
      expect(page.url()).not.toContain('ati_');
      await page.getByLabel('Sign-in name').fill(name);
      await page.getByLabel('Your name').fill(`Grace ${theme}`);
      await page.getByLabel('Password').fill('too short');
      await page.getByRole('button', { name: 'Join' }).click();
      await page.getByText('must have 12 to 1024 bytes.').waitFor();
      expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
      await page.getByLabel('Password').fill(password);
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Join' }).click();
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      expect(await page.getByRole('button', { name: 'New agent' }).count()).toBe(0);
      expect(await page.getByRole('heading', { name: 'Start with a sample' }).count()).toBe(0);

      await studio.openAgent('weather');
      await page.getByText(', read only').waitFor();
      expect(await page.getByRole('button', { name: 'Publish…' }).count()).toBe(0);
      const run = page.getByRole('banner').getByRole('button', { name: /^Run/ });
      expect(await run.isDisabled()).toBe(true);
      expect(await run.getAttribute('title')).toBe('This needs the role developer; yours is viewer.');
      await page.getByRole('button', { name: 'More about weather' }).click();
      await page.getByRole('menuitem', { name: 'Copy name' }).waitFor();
      for (const item of ['Rename…', 'Delete…', 'Publish…']) {
        expect(await page.getByRole('menuitem', { name: item }).count()).toBe(0);
      }
      await page.keyboard.press('Escape');
      await studio.manage();
      await page.getByRole('menuitem', { name: 'People' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Tokens' }).count()).toBe(0);
      await page.keyboard.press('Escape');

      const people = admin.page.getByRole('table', { name: 'People' });
      await admin.page.reload();
      await people.getByLabel(`Role of Grace ${theme}`).selectOption('developer');
      await admin.page.getByText(`Grace ${theme} is now developer`).waitFor();
      expect(await violations(admin.page)).toEqual([]);
      await page.reload();
      await studio.editorReady();
      await page.getByRole('button', { name: 'Publish…' }).waitFor();
      await expect.poll(() => run.isDisabled()).toBe(false);

      await page.goto('/studio/account');
      await page.getByLabel('Current password').fill(password);
      await page.getByLabel('New password').fill(`${password} 2`);
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('Password changed').waitFor();
      await page.getByRole('button', { name: 'Account' }).click();
      const allow = await refuse(page, '**/api/v1/session');
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByText('You are still signed in. Not now.').waitFor();
      await allow();
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Use a name and password' }).click();
      expect(await page.getByText('You are still signed in.').count()).toBe(0);
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('The name or password is incorrect.').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Password').fill(`${password} 2`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('table', { name: 'Sessions' }).getByText('This browser').waitFor();

      await people.getByRole('button', { name: `Remove Grace ${theme}` }).click();
      await admin.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await people.getByText(`Grace ${theme}`).waitFor({ state: 'detached' });
      await people.getByText('The only administrator.').waitFor();
      expect(await people.getByRole('button', { name: 'Remove Administrator' }).count()).toBe(0);
      expect(await people.getByRole('combobox', { name: 'Role of Administrator' }).count()).toBe(0);
      await expect.poll(() => admin.page.evaluate(() => document.activeElement === document.body)).toBe(false);
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in to Atelier' }).waitFor();
      await session.close();
      await admin.close();
    });
  }

  test('a workspace is entered and left, and a tab that lost it goes home', async () => {
    await must(atelier, 'POST', '/workspaces', { name: 'acme', title: 'Acme Ltd' });
    const session = await signIn(browser, atelier);
    const { page } = session;
    const studio = new Studio(page);
    await page.goto('/studio/');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Go to Acme Ltd' }).click();
    await page.getByRole('heading', { name: 'Welcome to Atelier', level: 1 }).waitFor();
    await studio.openSample('Weather');
    await studio.start();
    await studio.ended(/^Succeeded/);
    expect((await atelier.api('GET', '/api/v1/runs?limit=1')).body).toMatchObject({ items: [] });
    await page.reload();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText('· Acme Ltd').waitFor();
    await page.keyboard.press('Escape');
    await page.goto('/studio/');
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export all' }).click(),
    ]);
    const archive = gunzipSync(await readFile(await saved.path())).toString();
    expect(archive).toContain('main.ts'); // the agents of Acme, not of the other workspace
    expect(archive).not.toContain('main.js');
    await must(atelier, 'DELETE', '/workspaces/acme');
    await page.goto('/studio/');
    await page.getByRole('link', { name: 'weather', exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText('· Default').waitFor();
    expect(await page.getByRole('menuitem', { name: 'Go to Acme Ltd' }).count()).toBe(0);
    await session.close();
  });

  test('a token has no password and no sessions of its own', async () => {
    const made = (await must(atelier, 'POST', '/tokens', { name: 'nightly', scopes: ['read'] })) as { secret: string };
    const session = await openSession(browser, atelier, { theme: 'light', width: 390, height: 800 });
    await session.context.request.post('/api/v1/session', { data: { token: made.secret } });
    await session.page.goto('/studio/account');
    await session.page.getByText('You are signed in with a token').waitFor();
    expect(await session.page.getByLabel('New password').count()).toBe(0);
    expect(await session.page.getByText('could not be loaded').count()).toBe(0);
    expect(await violations(session.page)).toEqual([]);
    await session.close();
  });
});
