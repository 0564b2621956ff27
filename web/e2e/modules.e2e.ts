// WebAssembly modules in the Studio: choose, inspect, run and reject.
import { expect, test } from 'vitest';
import { violations } from './kit/axe';
import { eachSignedIn, type Stage } from './kit/stage';

let session: Stage['session'];
let studio: Stage['studio'];
eachSignedIn((stage) => {
  ({ session, studio } = stage);
});

const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const ascii = (text: string): number[] => [text.length, ...Buffer.from(text)];
const section = (id: number, content: number[]): number[] => [id, content.length, ...content];
/** Two modules that are commands: one does nothing, and one imports a host function. */
const nothing = Buffer.from([
  ...header,
  ...section(1, [1, 0x60, 0, 0]),
  ...section(3, [1, 0]),
  ...section(7, [1, ...ascii('_start'), 0, 0]),
  ...section(10, [1, 2, 0, 0x0b]),
]);
const wanting = Buffer.from([
  ...header,
  ...section(1, [1, 0x60, 0, 0]),
  ...section(2, [1, ...ascii('env'), ...ascii('system'), 0, 0]),
]);

async function begin(name: string, file: string, buffer: Buffer): Promise<void> {
  const { page } = session;
  await studio.home();
  await page.getByRole('button', { name: 'New agent…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New agent' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  await dialog.getByRole('radio', { name: 'WebAssembly' }).check({ force: true });
  await dialog
    .getByLabel('Module', { exact: true })
    .setInputFiles({ name: file, mimeType: 'application/wasm', buffer });
  await dialog.getByRole('button', { name: 'Create' }).click();
}

test('a module is shown by what it needs and offers, and runs', async () => {
  const { page } = session;
  await begin('nothing', 'main.wasm', nothing);
  const exports = page.getByRole('region', { name: 'Exports' });
  await exports.getByText('_start').waitFor();
  await page.getByText('It imports nothing.').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await studio.ended(/^Succeeded/);
  const result = await studio.panel('Result');
  await result.getByText('null').first().waitFor();
});

test('an invalid module is rejected by name, and the draft is unchanged', async () => {
  const { page } = session;
  await begin('wanting', 'notes.txt', wanting);
  const dialog = page.getByRole('dialog', { name: 'New agent' });
  await expect.poll(() => dialog.getByRole('alert').textContent()).toContain('must end in .wasm');
  await dialog
    .getByLabel('Module', { exact: true })
    .setInputFiles({ name: 'main.wasm', mimeType: 'application/wasm', buffer: wanting });
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').filter({ hasText: '"system" of "env"' }).waitFor();
  expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('wanting');
});
