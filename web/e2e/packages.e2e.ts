// Packages of an agent: named in the panel, resolved, run, published and compared.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { Editing } from './kit/editing';
import { startRegistry, type Registry } from './kit/registry';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let registry: Registry;
let store: string;

beforeAll(async () => {
  registry = await startRegistry();
  registry.add('greetings', '1.0.0', 'exports.greet = (name) => `Hello ${name}`;');
  registry.add('welcomes', '1.0.0', '', { greetings: '1.0.0' });
  registry.addWheel('salutes', '1.0.0', {
    'salutes/__init__.py':
      'def salute(name: str, times: int = 1) -> str:\n    """Salutes a person."""\n    return name * times\n',
  });
  const uv = execFileSync('scripts/uv.sh', { encoding: 'utf8' }).trim();
  store = await mkdtemp(join(tmpdir(), 'atelier-packages-'));
  await chmod(store, 0o755); // the users of the sandboxes must be able to read it
  const flags = [
    '--npm-registry',
    registry.url,
    '--python-index',
    registry.simple,
    '--uv',
    uv,
    '--packages-dir',
    store,
  ];
  [atelier, browser] = await Promise.all([startAtelier(...flags), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  await registry.stop();
  await rm(store, { recursive: true, force: true });
});

test('a package is named, resolved, published, and compared with the next version of it', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'greeter',
    language: 'javascript',
    code: "import { greet } from 'greetings';\nexport default ({ name }) => greet(name);\n",
  });
  const session = await signIn(browser, atelier);
  const { page } = session;
  const studio = new Studio(page);
  await studio.openAgent('greeter');
  const section = page.getByRole('button', { name: /^Packages/ });
  if ((await section.getAttribute('aria-expanded')) === 'false') await section.click();
  const group = page.getByRole('group', { name: 'Add a package' });
  await group.getByRole('textbox', { name: 'Find a package' }).fill('welcomes');
  await group.getByRole('button', { name: 'Find' }).click();
  await group.getByRole('button', { name: 'welcomes', exact: true }).click();
  const brought = group.getByRole('list', { name: 'What welcomes 1.0.0 brings' });
  await brought.getByText('greetings 1.0.0').waitFor();
  expect(await violations(page)).toEqual([]);
  await group.getByRole('textbox', { name: 'Find a package' }).fill('greet');
  await group.getByRole('button', { name: 'Find' }).click();
  await group.getByRole('button', { name: 'greetings', exact: true }).click();
  await group.getByRole('combobox', { name: 'Version of greetings' }).selectOption('1.0.0');
  await group.getByText('It brings no other packages.').waitFor();
  await group.getByRole('button', { name: 'Add greetings' }).click();
  const list = page.getByRole('textbox', { name: 'Packages, one per line' });
  expect(await list.inputValue()).toBe('greetings@1.0.0');
  await studio.saved();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('Installed.').waitFor();
  await list.fill('greetings@^1');
  await studio.saved();
  await page.getByRole('button', { name: 'Show exact versions' }).click();
  const exact = page.getByRole('list', { name: 'Exact packages' });
  await exact.getByText('1.0.0').waitFor();
  expect(await violations(page)).toEqual([]);
  const run = { version: 'draft', input: { name: 'Ada' } };
  expect(await must(atelier, 'POST', '/code-agents/greeter/execute', run)).toMatchObject({ output: 'Hello Ada' });
  await must(atelier, 'POST', '/code-agents/greeter/versions', { version: '1.0.0' });
  registry.add('greetings', '1.1.0', 'exports.greet = (name) => `Good day ${name}`;');
  await page.reload();
  await page.getByRole('button', { name: 'Show exact versions' }).click();
  await page.getByRole('button', { name: 'Resolve again' }).click();
  await exact.getByText('1.0.0 → 1.1.0').waitFor();
  await must(atelier, 'POST', '/code-agents/greeter/versions', { version: '1.1.0' });
  await studio.versions('greeter');
  await page
    .getByRole('button', { name: /Compare/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('From').selectOption('1.0.0');
  await dialog.getByLabel('To', { exact: true }).selectOption('1.1.0');
  await dialog.getByText('greetings 1.0.0 → 1.1.0').waitFor();
  expect(await violations(page)).toEqual([]);
  await session.close();
});

test('a package that does not exist is named with the way out', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'mistaken',
    language: 'javascript',
    code: 'export default () => 1;\n',
    packages: ['greetngs'],
  });
  const session = await signIn(browser, atelier);
  const { page } = session;
  await new Studio(page).openAgent('mistaken');
  const section = page.getByRole('button', { name: /^Packages/ });
  if ((await section.getAttribute('aria-expanded')) === 'false') await section.click();
  await page.getByRole('button', { name: 'Show exact versions' }).click();
  await page.getByRole('alert').getByText('greetngs was not found').waitFor();
  await session.close();
});

test('the editor knows the types of an installed package', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'typed',
    language: 'typescript',
    code: "import { greet } from 'greetings';\nexport default () => greet(42);\n",
    packages: ['greetings@1.0.0'],
  });
  const session = await signIn(browser, atelier);
  const { page } = session;
  await new Studio(page).openAgent('typed');
  const section = page.getByRole('button', { name: /^Packages/ });
  if ((await section.getAttribute('aria-expanded')) === 'false') await section.click();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('Installed.').waitFor();
  await page.getByRole('button', { name: /^Problems/ }).click();
  await page
    .getByRole('region', { name: 'Problems' })
    .getByText(/'number' is not assignable to parameter of type 'string'/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Publish…' }).first().click();
  await page.getByText('This version adds 1 package.').waitFor();
  await page.getByText('greetings none → 1.0.0').waitFor();
  await session.close();
});

test('the editor completes, explains and checks an installed package of Python', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'salutes-typed',
    language: 'python',
    code: 'import salutes\n\n\ndef main(input, ctx):\n    salutes.salute(42)\n    return {}\n',
    packages: ['salutes==1.0.0'],
  });
  const session = await signIn(browser, atelier);
  const { page } = session;
  await new Studio(page).openAgent('salutes-typed');
  const editing = new Editing(page);
  await editing.pythonReady();
  await page.getByRole('button', { name: /^Problems/ }).click();
  const problems = page.getByRole('region', { name: 'Problems' });
  await problems.getByText(/"salutes" could not be resolved/).waitFor();
  const section = page.getByRole('button', { name: /^Packages/ });
  if ((await section.getAttribute('aria-expanded')) === 'false') await section.click();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('Installed.').waitFor();
  await problems
    .getByText(/"Literal\[42\]" .*"str"/)
    .first()
    .waitFor();
  await editing.retype(5, 'salutes.salute(');
  await page.getByText('Salutes a person.').first().waitFor();
  await editing.retype(5, 'salutes.sal');
  await editing.suggests('salute');
  await session.close();
});

test('installed packages are listed with size and versions, and unused ones are removed', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'saluting',
    language: 'python',
    code: 'import salutes\n\n\ndef main(name):\n    return salutes.salute(name)\n',
    packages: ['salutes==1.0.0'],
  });
  await must(atelier, 'POST', '/code-agents/saluting/versions', { version: '1.0.0' });
  const session = await signIn(browser, atelier);
  const { page } = session;
  await page.goto('/studio/packages');
  const table = page.getByRole('table', { name: 'Installations' });
  const row = table.getByRole('row', { name: /salutes 1\.0\.0/ });
  await row.getByRole('link', { name: 'saluting@1.0.0' }).waitFor();
  await row.getByText('Licences').click();
  await row.getByText('salutes 1.0.0: MIT').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Clean up…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove unused packages' });
  await dialog.getByLabel('Not used for').selectOption('1 hour');
  await dialog.getByText('Everything was used in this time.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Remove' }).isDisabled()).toBe(true);
  expect(await violations(page)).toEqual([]);
  await session.close();
});
