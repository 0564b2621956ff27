// The Studio under a sub-path, behind a real reverse proxy.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { startAtelier, type Atelier } from './kit/atelier';
import { launch, openSession } from './kit/browser';
import { startProvider, type IdentityProvider } from './kit/provider';
import { startProxy, type ReverseProxy } from './kit/proxy';
import { Studio } from './kit/studio';

const path = '/tools/atelier';
let proxy: ReverseProxy;
let provider: IdentityProvider;
let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  [proxy, provider] = await Promise.all([startProxy(path), startProvider()]);
  const provided = ['--oidc-issuer', provider.issuer, '--oidc-client', provider.client.id];
  const secret = [
    '--oidc-client-secret',
    provider.client.secret,
    '--oidc-name',
    'Example',
    '--oidc-roles',
    'all=developer',
  ];
  [atelier, browser] = await Promise.all([startAtelier('--base-path', path, ...provided, ...secret), launch()]);
  proxy.to(atelier.url);
  provider.register(`${proxy.url}${path}/login/oidc/callback`);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  await provider.stop();
  await proxy.stop();
});

test('everything works under a base path, without requests outside it', async () => {
  expect(new URL(atelier.signInLink).pathname).toBe(`${path}/login`);
  const session = await openSession(browser, { ...atelier, url: proxy.url });
  const { page } = session;
  const studio = new Studio(page);
  await page.goto(atelier.signInLink.replace(atelier.url, proxy.url));
  await page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
  expect((await session.context.cookies()).map((cookie) => cookie.path)).toEqual([`${path}/`]);

  await studio.openSample('CSV summary');
  await page.getByText('Python: ready').waitFor();
  await studio.start();
  await studio.ended(/^Succeeded ·/);
  await page.reload();
  await studio.editorReady();
  expect(new URL(page.url()).pathname).toContain(`${path}/studio/a/`);

  await page.goto(`${path}/studio/settings/about`);
  await page.getByText(/^Atelier \S+$/).waitFor();
  await page.getByRole('link', { name: 'Third-party notices' }).click();
  await page.getByText('react-dom').first().waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'The API' }).click();
  await page.getByRole('heading', { name: 'Atelier API' }).waitFor();
  await page.getByRole('link', { name: 'OpenAPI 3.1' }).click();
  await page.waitForURL(`${proxy.url}${path}/openapi.json`);

  const made = await session.context.request.post(`${path}/api/v1/invitations`, { data: { role: 'viewer' } });
  const { link } = (await made.json()) as { link: string };
  await session.close();

  const guest = await openSession(browser, { ...atelier, url: proxy.url });
  await guest.page.goto(link);
  await guest.page.getByText('invites you to the workspace').waitFor();
  await guest.close();
  expect(proxy.outside).toEqual([]);
});

test('an OpenID provider leads back beneath the base path', async () => {
  provider.people.set('ada', { name: 'Ada', email: 'ada@example.com', groups: ['all'] });
  const session = await openSession(browser, { ...atelier, url: proxy.url }, { also: provider.issuer });
  const { page } = session;
  await page.goto(`${path}/studio/`);
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByPlaceholder('Enter any login').fill('ada');
  await page.getByPlaceholder('and password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
  expect(page.url()).toBe(`${proxy.url}${path}/studio/`);
  await session.close();
  expect(proxy.outside).toEqual([]);
});
