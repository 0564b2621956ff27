// Sign-in through a real OpenID provider in a real browser.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, openSession, signIn, type Session } from './kit/browser';
import { startProvider, type IdentityProvider } from './kit/provider';
import { askAgain, refuse } from './kit/refuse';

let provider: IdentityProvider;
let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  provider = await startProvider();
  [atelier, browser] = await Promise.all([
    startAtelier(
      ...[
        '--oidc-issuer',
        provider.issuer,
        '--oidc-client',
        provider.client.id,
        '--oidc-client-secret',
        provider.client.secret,
      ],
      ...['--oidc-name', 'Example', '--oidc-roles', 'engineers=developer,ops=administrator'],
    ),
    launch(),
  ]);
  provider.register(`${atelier.url}/login/oidc/callback`);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  await provider.stop();
});

/** Goes from the sign-in page through the provider's pages and back. */
async function signInAtProvider(page: Page, name: string): Promise<void> {
  await page.goto('/studio/');
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

const role = async (session: Session): Promise<unknown> => {
  const answer = await session.context.request.get('/api/v1/session');
  return answer.ok() ? ((await answer.json()) as { workspace: { role: string } }).workspace.role : answer.status();
};

describe('an OpenID provider', () => {
  test('lets its people in, with the roles of their groups', async () => {
    provider.people.set('ada', { name: 'Ada Lovelace', email: 'ada@example.com', groups: ['engineers'] });
    const session = await openSession(browser, atelier, { also: provider.issuer });
    await signInAtProvider(session.page, 'ada');
    await session.page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
    expect(new URL(session.page.url()).pathname + new URL(session.page.url()).search).toBe('/studio/');
    expect(await role(session)).toBe('developer');
    expect((await session.context.cookies()).map((cookie) => cookie.name)).not.toContain('atelier_login');

    // A change by an administrator applies without another sign-in.
    const members = (await atelier.api('GET', '/api/v1/members')).body as { items: { id: string; name: string }[] };
    const ada = members.items.find((member) => member.name === 'ada');
    expect((await atelier.api('PATCH', `/api/v1/members/${String(ada?.id)}`, { role: 'viewer' })).status).toBe(204);
    expect(await role(session)).toBe('viewer');
    await session.close();
  });

  test('explains why a person without a role is refused, and admits them once they have one', async () => {
    provider.people.set('bob', { name: 'Bob', email: 'bob@example.com', groups: ['visitors'] });
    const session = await openSession(browser, atelier, {
      also: provider.issuer,
      theme: 'light',
      width: 390,
      height: 800,
    });
    await signInAtProvider(session.page, 'bob');
    await session.page.getByRole('alert').filter({ hasText: 'none of your groups has a role here' }).waitFor();
    expect(await violations(session.page)).toEqual([]);
    expect(await role(session)).toBe(401);
    provider.people.set('bob', { name: 'Bob', email: 'bob@example.com', groups: ['ops'] });
    await session.page.getByRole('link', { name: 'Sign in with Example' }).click();
    await session.page.getByRole('heading', { name: 'Start with a sample' }).waitFor(); // the provider session still exists
    expect(await role(session)).toBe('administrator');
    await session.close();
  });

  test('is offered once it is known that there is one', async () => {
    const session = await openSession(browser, atelier, { also: provider.issuer });
    const { page } = session;
    const allow = await refuse(page, '**/api/v1/session/methods');
    await page.goto('/studio/');
    await page.getByRole('alert').filter({ hasText: 'Not now.' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await askAgain(page, 'The other ways to sign in could not be loaded.', allow);
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
    await session.close();
  });

  test('rejects a sign-in that was started in another browser', async () => {
    const session = await openSession(browser, atelier, { also: provider.issuer });
    await session.page.goto('/login/oidc/callback?state=x&code=y');
    await session.page.getByRole('alert').filter({ hasText: 'was not started in this browser' }).waitFor();
    expect(await role(session)).toBe(401);
    await session.close();
  });

  test('may be away: the other ways still work', async () => {
    const away = await startAtelier('--oidc-issuer', 'http://127.0.0.1:9', '--oidc-client', 'atelier');
    try {
      const session = await openSession(browser, away);
      await session.page.goto('/studio/');
      await session.page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
      await session.page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
      expect(await violations(session.page)).toEqual([]);
      await session.page.getByLabel('Token').fill(away.token);
      await session.page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await session.page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
      await session.close();
      const other = await signIn(browser, away);
      await other.close();
    } finally {
      await away.stop();
    }
  });
});
