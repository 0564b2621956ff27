// Personal settings on the settings page.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { askAgain, refuse } from './kit/refuse';
import { must, publishedAgent } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage: Stage) => {
  ({ atelier, page, studio } = stage);
});

const change = (title: string) => page.getByRole('button', { name: `Change the keys of ${title}` });
const row = (title: string) => page.getByRole('listitem').filter({ has: change(title) });
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
  await page.getByRole('combobox', { name: 'Command palette' }).fill('settings');
  await page.getByRole('option', { name: 'Settings g s' }).click();
  await page.waitForURL('**/studio/settings/appearance');
  await page.goto('/studio/settings');
  await section('Appearance').waitFor();
  await page.goto('/studio/settings/tokens');
  await page.getByRole('heading', { name: 'Tokens' }).waitFor();
  await page.goto('/studio/settings/nothing');
  await page.getByText('Settings section not found.').waitFor();
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
  const allow = await refuse(page, '**/health');
  await page.goto('/studio/settings/about');
  await askAgain(page, 'The version could not be loaded.', allow);
  await page.getByText(/^Atelier \S+$/).waitFor();
  const notices = await page.getByRole('link', { name: 'Third-party notices' }).getAttribute('href');
  const answer = await page.request.get(notices ?? '');
  expect(answer.headers()['content-type']).toContain('text/plain');
  const text = await answer.text();
  for (const name of ['monaco-editor', 'react', 'radix-ui']) expect(text).toContain(`\n${name} `);
});

test('a command gets other keys, which hold after a reload; keys of another are refused by its name', async () => {
  await studio.home();
  await Promise.all(['g', 's'].map((key) => page.keyboard.press(key))); // directly after each other, even on a busy machine
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  const filter = page.getByRole('searchbox', { name: 'Filter the commands' });
  await filter.fill('ctrl+s');
  await page.getByText('Save now').waitFor();
  expect(await page.getByText('Switch theme').count()).toBe(0);
  await filter.press('Escape');
  await page.getByText('Switch theme').waitFor();
  await change('Command palette').click();
  await page.keyboard.press('ControlOrMeta+S');
  await row('Command palette').getByText('Ctrl+S already runs “Save now”').waitFor();
  await change('Command palette').click();
  await page.keyboard.press('ControlOrMeta+C');
  await row('Command palette').getByText('These keys cannot be used').waitFor();
  await change('Command palette').click();
  await page.keyboard.press('ControlOrMeta+Shift+Y');
  await row('Command palette').getByText('Ctrl+Shift+Y', { exact: true }).waitFor();

  const palette = page.getByRole('combobox', { name: 'Command palette' });
  const opens = async (keys: string) => {
    await page.keyboard.press(keys);
    await palette.waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'hidden' });
  };
  await page.getByRole('button', { name: 'Command palette (Ctrl+Shift+Y)' }).waitFor();
  await opens('ControlOrMeta+Shift+Y');
  await page.reload();
  await row('Command palette').getByText('Ctrl+Shift+Y', { exact: true }).waitFor();
  await opens('ControlOrMeta+Shift+Y');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Ctrl+Shift+Y', { exact: true }).waitFor();
  await page.keyboard.press('Escape');

  // The freed keys can be assigned to another command, which must release them first.
  await change('Save now').click();
  await page.keyboard.press('ControlOrMeta+K');
  await row('Save now').getByText('Ctrl+K', { exact: true }).waitFor();
  const reset = (title: string) => page.getByRole('button', { name: `Reset the keys of ${title}` });
  await reset('Command palette').click();
  await row('Command palette').getByText('Ctrl+K already runs “Save now”').waitFor();
  await reset('Save now').click();
  await reset('Command palette').click();
  await row('Command palette').getByText('Ctrl+K', { exact: true }).waitFor();
  await expect.poll(() => change('Command palette').evaluate((e) => e === document.activeElement)).toBe(true);
  await opens('ControlOrMeta+K');

  // Holding the first key down does not record a second one.
  await change('Save now').focus();
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.getByRole('button', { name: 'Press the keys for Save now' }).waitFor();
  await page.keyboard.press('Escape');
  await change('Save now').waitFor();
  expect(await row('Save now').getByRole('alert').count()).toBe(0);
});

test('a command gets two letters that are pressed one after the other', async () => {
  await page.goto('/studio/settings/keys');
  const asking = page.getByRole('button', { name: 'x, then a letter or digit for Command palette' });
  const begin = async () => {
    await change('Command palette').click();
    await page.keyboard.press('x');
    await asking.waitFor();
  };
  await begin();
  await page.keyboard.press('Escape');
  await row('Command palette').getByText('Ctrl+K', { exact: true }).waitFor();
  await begin();
  await page.keyboard.press('Enter');
  await row('Command palette').getByText('After x, press a letter or a digit').waitFor();
  await change('Command palette').click();
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await row('Command palette').getByText('g a already runs “All agents”').waitFor();
  await begin();
  await page.keyboard.press('p');
  await row('Command palette').getByText('x p', { exact: true }).waitFor();
  await page.reload();
  await row('Command palette').getByText('x p', { exact: true }).waitFor();
  await page.keyboard.press('x');
  await page.keyboard.press('p');
  await page.getByRole('combobox', { name: 'Command palette' }).waitFor();
});

test('letters of a shortcut are typed in a text field', async () => {
  await publishedAgent(atelier, 'typed');
  await studio.openAgent('typed');
  await studio.editor.focus();
  await page.keyboard.press('ControlOrMeta+Home');
  await studio.saving(() => page.keyboard.type('//gs?gagr\n'));
  await page.getByText('//gs?gagr', { exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/studio/a/typed');
});

test('letters that lead to a file start no command', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'walked',
    language: 'javascript',
    entrypoint: 'main.js',
    files: { 'gulls.txt': '', 'main.js': 'export default () => 1;\n', 'seals.txt': '' },
  });
  await studio.openAgent('walked');
  const row = (name: string) => page.getByRole('treeitem', { name });
  await row('main.js entry').focus();
  for (const name of ['gulls.txt', 'seals.txt']) {
    await page.keyboard.press(name.charAt(0));
    await expect.poll(() => row(name).evaluate((element) => element === document.activeElement)).toBe(true);
  }
  expect(new URL(page.url()).pathname).toBe('/studio/a/walked');
});

test('invalid stored settings do not break a page', async () => {
  const wrong = [
    '{',
    'null',
    '{"state":null}',
    '{"state":{"chosen":null,"sections":null,"left":"wide","fontSize":[]}}',
  ];
  await publishedAgent(atelier, 'kept');
  await studio.home();
  for (const text of wrong) {
    await page.evaluate((was) => {
      for (const name of ['keys', 'layout', 'editor', 'theme']) localStorage.setItem(`atelier.${name}`, was);
    }, text);
    await page.goto('/studio/settings/keys');
    await change('Command palette').waitFor();
    await studio.openAgent('kept');
  }
});
