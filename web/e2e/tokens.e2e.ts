// The tokens page: create, show once, use, revoke.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, openSession, signIn } from './kit/browser';
import { publishedAgent } from './kit/seed';

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

const ask = (token: string, path: string): Promise<Response> =>
  fetch(atelier.url + path, { headers: { authorization: `Bearer ${token}` } });

describe('tokens', () => {
  for (const [theme, width] of [
    ['dark', 1280],
    ['light', 390],
  ] as const) {
    test(`a token for one agent is shown once, works, and is revoked (${theme}, ${width})`, async () => {
      const session = await signIn(browser, atelier, { theme, width, height: 800 });
      const { page } = session;
      const name = `report-${theme}`;
      await page.goto('/studio/tokens');
      await page.getByText('Programs sign in with tokens.').waitFor();
      await page.getByRole('button', { name: 'New token…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Only for these agents').fill('absent');
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await dialog.getByText('absent: Agent not found.').waitFor();
      expect(await dialog.getByLabel('Only for these agents').getAttribute('aria-invalid')).toBe('true');
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel('Only for these agents').fill('weather');
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await dialog.getByText('it is shown only once').waitFor();
      const secret = (await dialog.getByLabel('Secret').textContent()) ?? '';
      expect(secret).toMatch(/^atl_/);
      expect(await violations(page)).toEqual([]);
      expect((await ask(secret, '/api/v1/code-agents/weather')).status).toBe(200);
      expect((await ask(secret, '/api/v1/code-agents')).status).toBe(403);
      await dialog.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('table', { name: 'Tokens' }).getByRole('row').filter({ hasText: name });
      await row.getByText('Only weather').waitFor();
      await page.reload();
      // The columns for creation and last use both show "just now".
      await expect.poll(() => row.getByText('just now').count()).toBe(2);
      expect(await page.content()).not.toContain(secret);
      expect(await violations(page)).toEqual([]);
      await row.getByRole('button', { name: `Revoke ${name}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await row.waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate(() => document.activeElement === document.body)).toBe(false);
      expect((await ask(secret, '/api/v1/code-agents/weather')).status).toBe(401);
      await page.getByLabel('Show revoked and expired tokens too').check();
      await row.getByText('revoked just now').waitFor();
      await session.close();
    });
  }

  test('the table sorts, narrows, and is walked by the arrow keys', async () => {
    const session = await signIn(browser, atelier);
    const { page } = session;
    for (const [name, scopes] of [
      ['robot-10', ['read']],
      ['robot-9', ['read', 'run']],
      ['robot-2', ['read', 'run', 'write']],
      ['other-1', ['read']],
      ['other-2', ['read']],
    ] as const)
      await atelier.api('POST', '/api/v1/tokens', { name, scopes });
    await page.goto('/studio/tokens');
    const table = page.getByRole('table', { name: 'Tokens' });
    const names = async (): Promise<string[]> =>
      (await table.locator('tbody strong').allInnerTexts()).filter((name) => name.startsWith('robot-'));
    await page.getByRole('searchbox', { name: 'Filter Tokens' }).fill('robot read');
    await page.getByText(/^3 of \d+$/).waitFor();
    await table.getByRole('button', { name: 'Name' }).click();
    await expect.poll(names).toEqual(['robot-2', 'robot-9', 'robot-10']);
    await table.getByRole('button', { name: 'Name' }).click();
    await expect.poll(names).toEqual(['robot-10', 'robot-9', 'robot-2']);
    expect(await table.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('descending');
    const focused = (): Promise<string | null> =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null);
    await table.getByRole('button', { name: 'Revoke robot-10' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('Revoke robot-9');
    await page.keyboard.press('End');
    expect(await focused()).toBe('Revoke robot-2');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('Revoke robot-2');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Filter Tokens' }).fill('absent');
    await page.getByText('Nothing matches.').waitFor();
    await session.close();
  });

  test('the reason of a refused sign-in leaves the address with the next sign-in', async () => {
    const session = await openSession(browser, atelier);
    const { page } = session;
    await page.goto('/studio/people?login=__proto__'); // an error text in the address is ignored
    await page.getByLabel('Token').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.goto('/studio/people?login=forbidden&x=1');
    await page.getByText('none of your groups has a role here').waitFor();
    await page.getByLabel('Token').fill(atelier.token);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    expect(new URL(page.url()).search).toBe('?x=1');
    await session.close();
  });

  test('another browser is signed out at once', async () => {
    const mine = await signIn(browser, atelier);
    const lost = await signIn(browser, atelier, { theme: 'light', width: 390, height: 800 });
    await mine.page.goto('/studio/account');
    const table = mine.page.getByRole('table', { name: 'Sessions' });
    const sessions = table.getByRole('row').filter({ has: mine.page.getByRole('cell') });
    await sessions.filter({ hasText: 'This browser' }).waitFor();
    expect(await violations(mine.page)).toEqual([]);
    for (let left = (await sessions.count()) - 1; left > 0; left--) {
      await sessions
        .getByRole('button', { name: /^Sign out/ })
        .first()
        .click();
      await mine.page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
      await mine.page.getByRole('dialog').waitFor({ state: 'detached' });
      await sessions.nth(left).waitFor({ state: 'detached' });
    }
    await lost.page.goto('/studio/');
    await lost.page.getByRole('heading', { name: 'Sign in to Atelier' }).waitFor();
    expect(await violations(lost.page)).toEqual([]);
    await lost.close();
    await mine.close();
  });
});
