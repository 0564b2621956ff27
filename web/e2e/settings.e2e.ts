// What somebody sets for themselves on the page of settings.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let page: Page;
let studio: Studio;
eachSignedIn((stage: Stage) => {
  ({ page, studio } = stage);
});

const section = (name: string) => page.getByRole('region', { name, exact: true });
const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);

test('the settings are found in the account menu and the palette, and each section has an address', async () => {
  await studio.home();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Settings' }).click();
  await section('Appearance').waitFor();
  await page.getByRole('link', { name: 'Editor', exact: true }).click();
  await section('Editor').getByRole('spinbutton', { name: 'Font size' }).waitFor();
  await page.waitForURL('**/studio/settings/editor');
  await page.goBack();
  await section('Appearance').waitFor();
  await studio.home();
  await page.keyboard.press('ControlOrMeta+K');
  await page.keyboard.type('settings');
  await page.getByRole('option', { name: 'Settings', exact: true }).click();
  await page.waitForURL('**/studio/settings/appearance');
  await page.goto('/studio/settings');
  await section('Appearance').waitFor();
  await page.goto('/studio/settings/tokens');
  await page.getByRole('heading', { name: 'Tokens' }).waitFor();
  await page.goto('/studio/settings/nothing');
  await page.getByText('The settings have no such section.').waitFor();
});

test('a theme is chosen, stays, and is given back to the system', async () => {
  await page.goto('/studio/settings/appearance');
  const choice = (name: string) => section('Appearance').getByRole('radio', { name });
  await expect.poll(() => choice('System').getAttribute('aria-checked')).toBe('true');
  expect(await theme()).toBe('dark');
  await choice('Light').click();
  await expect.poll(theme).toBe('light');
  await page.reload();
  await expect.poll(() => choice('Light').getAttribute('aria-checked')).toBe('true');
  expect(await theme()).toBe('light');
  await choice('System').click();
  await expect.poll(theme).toBe('dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(theme).toBe('light');
});

test('the Studio says what it is and whose work it is built from', async () => {
  await page.goto('/studio/settings/about');
  await page.getByText(/^Atelier \S+$/).waitFor();
  const notices = await page.getByRole('link', { name: 'Third-party notices' }).getAttribute('href');
  const answer = await page.request.get(notices ?? '');
  expect(answer.headers()['content-type']).toContain('text/plain');
  const text = await answer.text();
  for (const name of ['monaco-editor', 'react', 'radix-ui']) expect(text).toContain(`\n${name} `);
});
