// From a draft to a tool: allowed network, versions, comparison and export formats.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { violations } from './kit/axe';
import { hold } from './kit/hold';
import { refuse } from './kit/refuse';
import { must, program, publishedAgent, saveDraft } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

/** Counts from now on how many clipboard writes the page starts and finishes. */
const clipboardWrites = () =>
  page.evaluateHandle(() => {
    const writes = { begun: 0, ended: 0 };
    const write = navigator.clipboard.write.bind(navigator.clipboard);
    navigator.clipboard.write = (items) => {
      writes.begun++;
      const writing = write(items);
      void writing.catch(() => undefined).then(() => writes.ended++);
      return writing;
    };
    return writes;
  });

test('A37 a host is granted and kept, one that is everything is refused with a reason', async () => {
  await publishedAgent(atelier, 'reaching');
  await studio.openAgent('reaching');
  await page.getByRole('button', { name: /^Network/ }).click();
  const hosts = page.getByRole('textbox', { name: 'Hosts, one per line' });
  await studio.saving(() => hosts.fill('api.example.com:443'));
  await page.reload();
  await expect.poll(() => hosts.inputValue()).toBe('api.example.com:443');
  await hosts.fill('http://*');
  await studio.draft.filter({ hasText: /^Not saved/ }).waitFor();
  await page
    .getByRole('complementary', { name: 'Configuration' })
    .getByText(/http:\/\/\*/)
    .last()
    .waitFor();
  const { draft } = (await must(atelier, 'GET', '/code-agents/reaching')) as { draft: { capabilities: unknown } };
  expect(draft.capabilities).toMatchObject({ hosts: ['api.example.com:443'] });
});

test('A39 a published agent moves among the published, and its version is read only', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'moving',
    language: 'javascript',
    entrypoint: 'main.js',
    ...program('Sun'),
  });
  await studio.openAgent('moving');
  await studio.publish('1.0.0');
  const side = page.getByRole('navigation', { name: 'Agents and files' });
  await side.getByRole('link', { name: /moving ?1\.0\.0/ }).waitFor();
  await page.goto('/studio/a/moving@1.0.0');
  await page.getByText('1.0.0, read only').waitFor();
  await page.getByRole('textbox', { name: /^Code editor, main\.js, read only/ }).waitFor({ state: 'attached' });
  expect(await page.getByRole('button', { name: 'New file' }).count()).toBe(0);
});

test('A40 two versions are compared by lines, side by side, and their schemas in a table', async () => {
  await publishedAgent(atelier, 'compared');
  await saveDraft(atelier, 'compared', {
    ...program('Fog'),
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
    },
  });
  await must(atelier, 'POST', '/code-agents/compared/versions', { version: '1.1.0', changelog: 'Fog.' });
  await studio.versions('compared');
  await page.getByRole('button', { name: 'Compare…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Compare compared' });
  const lines = dialog.getByRole('region', { name: 'Changes of main.js' });
  await lines.getByText(/^-.*Sun in/).waitFor();
  await lines.getByText(/^\+.*Fog in/).waitFor();
  await dialog.getByText('Schemas as JSON').click();
  await dialog.getByRole('row').filter({ hasText: 'Input schema' }).first().waitFor();
  await dialog
    .getByRole('radiogroup', { name: 'Show main.js as' })
    .getByRole('radio', { name: 'Side by side' })
    .click();
  await lines.getByRole('textbox', { name: '1.0.0' }).waitFor({ state: 'attached' });
  await lines.getByText(/Sun/).first().waitFor();
  await lines.getByText(/Fog/).first().waitFor();
  const sideBySide = dialog.getByRole('radio', { name: 'Side by side' });
  const within = dialog.getByRole('radio', { name: 'Inline' });
  await lines.locator('.side-by-side').waitFor();
  await expect.poll(async () => (await lines.boundingBox())?.height).toBeLessThan(4 * 18); // two lines of 18 pixels, without a gap
  await page.setViewportSize({ width: 500, height: 800 });
  await expect.poll(() => within.isChecked()).toBe(true);
  expect([await sideBySide.isChecked(), await sideBySide.isDisabled()]).toEqual([false, true]);
  await lines.locator('.monaco-diff-editor:not(.side-by-side)').waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => sideBySide.isChecked()).toBe(true);
  await lines.locator('.side-by-side').waitFor();
});

test('A41 a reference is copied, and the line that calls it', async () => {
  await publishedAgent(atelier, 'copied');
  await studio.versions('copied');
  await studio.choose('Actions for 1.0.0', 'Copy reference');
  await expect.poll(clipboard).toBe('copied@1.0.0');
  await studio.choose('Actions for 1.0.0', 'Copy the line for a terminal');
  await expect.poll(clipboard).toBe(`atelier run copied@1.0.0 --input '{"city":"text"}'`);
  await studio.openAgent('copied');
  await page.keyboard.press('Alt+c');
  await expect.poll(clipboard).toBe('copied@1.0.0');
});

test('a pending command is promised to the clipboard on click, and a failure shows a notice', async () => {
  await publishedAgent(atelier, 'promised');
  await studio.versions('promised');
  const writes = await clipboardWrites();
  const release = await hold(page, '**/code-agents/promised/versions/1.0.0');
  await studio.choose('Actions for 1.0.0', 'Copy the line for a terminal');
  await expect.poll(async () => (await writes.jsonValue()).begun).toBe(1);
  release();
  await expect.poll(clipboard).toMatch(/^atelier run promised@1\.0\.0 /);
  await page.unrouteAll({ behavior: 'wait' });

  await refuse(page, '**/code-agents/promised/versions/1.0.0');
  await studio.versions('promised');
  await studio.choose('Actions for 1.0.0', 'Copy the line for a terminal');
  await page.getByText('The input schema of the version could not be loaded. Not now.').waitFor();
});

test('a line that comes late does not take the place of what was copied since', async () => {
  await publishedAgent(atelier, 'overtaken');
  await studio.versions('overtaken');
  const writes = await clipboardWrites();
  const release = await hold(page, '**/code-agents/overtaken/versions/1.0.0');
  await studio.choose('Actions for 1.0.0', 'Copy the line for a terminal');
  await studio.choose('Actions for 1.0.0', 'Copy reference');
  await expect.poll(clipboard).toBe('overtaken@1.0.0');
  release();
  await expect.poll(async () => (await writes.jsonValue()).ended).toBe(1);
  expect(await clipboard()).toBe('overtaken@1.0.0');
  await page.unrouteAll({ behavior: 'wait' });
});

test('a refused copy shows a notice, and its retry copies', async () => {
  await publishedAgent(atelier, 'withheld');
  await studio.versions('withheld');
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('No.'));
    Object.assign(document, { execCommand: () => false });
  });
  await studio.choose('Actions for 1.0.0', 'Copy reference');
  const told = page.getByRole('region', { name: 'Notices' });
  const failed = told.getByText('The browser did not allow copying.');
  await failed.waitFor();
  await told.getByRole('button', { name: 'Dismiss' }).click();
  await failed.waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(false);
  await studio.choose('Actions for 1.0.0', 'Copy reference');
  await failed.waitFor();
  await page.evaluate(() => {
    Reflect.deleteProperty(navigator.clipboard, 'writeText');
  });
  await told.getByRole('button', { name: 'Retry' }).click();
  await expect.poll(clipboard).toBe('withheld@1.0.0');
  await told.getByText('Copied', { exact: true }).waitFor();
});

test('a notice inside an open dialog is reachable by mouse, keyboard and screen reader', async () => {
  await publishedAgent(atelier, 'told');
  await studio.versions('told');
  await studio.choose('Actions for 1.0.0', 'Export as tool');
  const dialog = page.getByRole('dialog');
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('No.'));
    Object.assign(document, { execCommand: () => false });
  });
  const copy = dialog.getByRole('button', { name: /^Copy: / }).first();
  const told = page.getByRole('region', { name: 'Notices' });
  const failed = told.getByText('The browser did not allow copying.');
  expect(await told.getAttribute('aria-live')).toBe('polite');
  await copy.click();
  await failed.waitFor();
  expect(await dialog.evaluate((open) => open.contains(document.querySelector('[aria-live] p')))).toBe(true);
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await failed.waitFor({ state: 'detached' });
  expect(await dialog.evaluate((open) => open.contains(document.activeElement))).toBe(true);

  await copy.click();
  await page.evaluate(() => {
    Reflect.deleteProperty(navigator.clipboard, 'writeText');
  });
  await told.getByRole('button', { name: 'Retry' }).click();
  await expect.poll(clipboard).not.toBe('');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await told.count()).toBe(1);
});

test('A42 every format shows the input schema, and its download is identical', async () => {
  await publishedAgent(atelier, 'carried');
  await studio.openAgent('carried');
  await page.getByRole('button', { name: 'Export as tool' }).click();
  const dialog = page.getByRole('dialog');
  const forms = dialog.getByRole('tablist', { name: 'Format' }).getByRole('tab');
  await forms.first().waitFor();
  expect(await forms.count()).toBe(7);
  for (const form of await forms.all()) {
    await form.click();
    const manifest = dialog.getByRole('region', { name: 'Manifest' });
    await manifest
      .getByText(/"city"/)
      .first()
      .waitFor();
    const shown = await manifest.innerText();
    expect(JSON.parse(shown)).toBeTypeOf('object');
    const saved = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download the manifest' }).click();
    expect((await readFile(await (await saved).path(), 'utf8')).trim()).toBe(shown.trim());
  }
});

test.each([390, 768, 1280])('%i wide, the forms and what is done with them have their lines', async (width) => {
  const name = `formed-${String(width)}`;
  await publishedAgent(atelier, name);
  await page.setViewportSize({ width, height: 800 });
  await page.goto(`/studio/a/${name}`);
  await studio.editorReady();
  await page.keyboard.press('ControlOrMeta+Shift+E');
  const dialog = page.getByRole('dialog');
  const manifest = dialog.getByRole('region', { name: 'Manifest' });
  await manifest.getByText('"function"', { exact: true }).first().waitFor();
  const list = dialog.getByRole('combobox', { name: 'Format' });
  const row = dialog.getByRole('tablist', { name: 'Format' });
  expect([await list.count(), await row.count()]).toEqual(width < 760 ? [1, 0] : [0, 1]);
  const tops = await row
    .getByRole('tab')
    .evaluateAll((all) => all.map((e) => Math.round(e.getBoundingClientRect().top)));
  expect(new Set(tops).size).toBe(width < 760 ? 0 : 1);
  const [shown, last] = await Promise.all([
    manifest.boundingBox(),
    dialog.getByRole('button', { name: 'Download the manifest' }).boundingBox(),
  ]);
  expect(shown && last && Math.abs(shown.x + shown.width - last.x - last.width)).toBeLessThan(1);
  if (width < 760) {
    expect(await list.evaluate((e) => e === document.activeElement)).toBe(true);
    await list.selectOption('MCP');
    await manifest.getByText('"inputSchema"').waitFor();
  }
});

test('the lines that call it hold an input that fits, also before there was one', async () => {
  await publishedAgent(atelier, 'unfed');
  await studio.openAgent('unfed');
  const lines = page.getByRole('dialog').getByRole('region', { name: 'Call it from a terminal' });
  const shown = async (input: string): Promise<void> => {
    await page.keyboard.press('ControlOrMeta+Shift+E');
    await lines.getByText(`atelier run unfed@1.0.0 --input '${input}'`, { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await lines.waitFor({ state: 'detached' });
  };
  await shown('{"city":"text"}');
  await page.getByRole('textbox', { name: 'city' }).fill('Oslo');
  await shown('{"city":"Oslo"}');
});

test('an input that fits the draft is in no line of a version that takes another', async () => {
  await publishedAgent(atelier, 'moved-on');
  const inputSchema = { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] };
  await saveDraft(atelier, 'moved-on', { inputSchema });
  await studio.openAgent('moved-on');
  await page.getByRole('textbox', { name: 'town' }).fill('Oslo');
  await page.keyboard.press('ControlOrMeta+Shift+E');
  const dialog = page.getByRole('dialog');
  const line = dialog.getByRole('region', { name: 'Call it from a terminal' });
  await line.getByText(`atelier run moved-on@1.0.0 --input '{"city":"text"}'`, { exact: true }).waitFor();
  await dialog.getByText('Try it as a tool').click();
  const field = dialog.getByRole('textbox', { name: 'Arguments, as a model would write them' });
  expect(JSON.parse(await field.inputValue())).toEqual({ city: 'text' });
});

test('a version is tried as the tool that it is', async () => {
  await publishedAgent(atelier, 'tried');
  await studio.openAgent('tried');
  await page.getByRole('button', { name: 'Export as tool' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Try it as a tool').click();
  const field = dialog.getByRole('textbox', { name: 'Arguments, as a model would write them' });
  await field.fill('{"city": ');
  await dialog.getByRole('button', { name: 'Call tried@1.0.0' }).click();
  await dialog.getByRole('alert').waitFor();
  await field.fill('{}');
  await dialog.getByRole('button', { name: 'Call tried@1.0.0' }).click();
  await dialog.getByRole('alert').filter({ hasText: /city/ }).waitFor();
  await field.fill('{"city": "Oslo"}');
  await dialog.getByRole('button', { name: 'Call tried@1.0.0' }).click();
  await expect
    .poll(() => dialog.getByRole('region', { name: 'Output of the tool' }).innerText())
    .toContain('Sun in Oslo');
  await dialog.getByRole('link', { name: 'Open the run' }).click();
  await page.waitForURL('**/a/tried@1.0.0?*run=*');
  await studio.ended(/^Succeeded ·/);
});
