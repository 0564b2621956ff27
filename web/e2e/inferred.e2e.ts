// Schemas that follow the types of the code.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { must, saveDraft } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

const before = 'def main(city: str) -> str:\n    return city\n';
const after = 'def main(city: str, days: int = 3, raw: bytes = b"") -> list[str]:\n    return [city] * days\n';

interface Drafted {
  draft: { inputSchema: { properties: object }; schemaSources?: { input?: { source: string } } };
}

const agent = async (name: string): Promise<Drafted> => (await must(atelier, 'GET', `/code-agents/${name}`)) as Drafted;

async function open(name: string): Promise<void> {
  await must(atelier, 'POST', '/code-agents', { name, language: 'python', code: before });
  await page.goto(`/studio/a/${name}`);
  await studio.editorReady();
}

test('a new agent gets the schemas of its types, and a change of the code is offered as a difference', async () => {
  await open('typed');
  await saveDraft(atelier, 'typed', { code: after });
  await page.reload();
  await studio.editorReady();
  await page
    .getByRole('button', { name: /^Publish/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The schemas are older than the code.').waitFor();
  await dialog.getByRole('button', { name: 'Update from code' }).click();
  await dialog.getByRole('heading', { name: 'Update the schemas from the code' }).waitFor();
  await dialog.getByRole('region', { name: 'Notes' }).getByText('bytes has no JSON form').waitFor();
  expect(await dialog.getByRole('region', { name: 'Input schema', exact: true }).count()).toBe(1);
  await dialog.getByRole('button', { name: 'Update schemas' }).click();
  await expect
    .poll(async () => Object.keys((await agent('typed')).draft.inputSchema.properties))
    .toEqual(['city', 'days', 'raw']);
  expect((await agent('typed')).draft.schemaSources?.input?.source).toBe('python');
  await page
    .getByRole('button', { name: /^Publish/ })
    .first()
    .click();
  await dialog.getByRole('button', { name: 'Publish 1.0.0' }).waitFor();
  expect(await dialog.getByText('older than the code').count()).toBe(0);
});

test('code that does not load is named with its line, and the schemas stay', async () => {
  await open('broken');
  await saveDraft(atelier, 'broken', { code: 'import json\nimport nothing_here\n' });
  await page.reload();
  await studio.editorReady();
  await page
    .getByRole('button', { name: /^Publish/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Update from code' }).click();
  const alert = dialog.getByRole('alert');
  await alert.getByText('main.py:2').waitFor();
  await alert.getByText('nothing_here').waitFor();
  expect(await dialog.getByRole('button', { name: 'Update schemas' }).isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(Object.keys((await agent('broken')).draft.inputSchema.properties)).toEqual(['city']);
});

test('a schema that a person edits is no longer from the code', async () => {
  await open('edited');
  await page.goto('/studio/a/edited?schema=input');
  await studio.editorReady();
  await page.getByRole('button', { name: 'Add property' }).click();
  const name = page.getByRole('textbox', { name: 'Name of property' });
  await name.fill('zip');
  await name.press('Enter');
  await expect.poll(async () => (await agent('edited')).draft.schemaSources?.input).toBe(undefined);
});

test('the form follows the types while the code is typed', async () => {
  await open('live');
  await page.getByRole('textbox', { name: 'city' }).waitFor();
  await studio.replace(after);
  await page.getByRole('textbox', { name: /^days/ }).waitFor();
  await expect
    .poll(async () => Object.keys((await agent('live')).draft.inputSchema.properties))
    .toEqual(['city', 'days', 'raw']);
  expect((await agent('live')).draft.schemaSources?.input?.source).toBe('python');
  await studio.replace('def main(\n');
  await page
    .getByText(/Older than the code\. main\.py:1: .*SyntaxError/)
    .first()
    .waitFor();
  expect(await page.getByRole('textbox', { name: /^days/ }).count()).toBe(1);
  await studio.replace(before);
  await page.getByRole('textbox', { name: /^days/ }).waitFor({ state: 'detached' });
  await expect.poll(async () => Object.keys((await agent('live')).draft.inputSchema.properties)).toEqual(['city']);
});
