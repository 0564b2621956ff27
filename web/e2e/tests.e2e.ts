// Tests of an agent: kept from a result, run, updated, and required for publishing.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

const code = 'def main(city: str) -> dict[str, str | int]:\n    return {"city": city, "degrees": 21}\n';
const broken = 'def main(city: str) -> dict[str, str | int]:\n    return {"city": city}\n';
const publishButton = /^Publish/;

async function keep(name: string): Promise<void> {
  await page.getByRole('tab', { name: 'Result' }).click();
  await page.getByRole('button', { name: 'Keep as test' }).click();
  const dialog = page.getByRole('dialog', { name: 'Keep as a test' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  await dialog.getByRole('button', { name: 'Keep test' }).click();
  await dialog.waitFor({ state: 'detached' });
}

test('a result is kept as a test, which fails when the code breaks it and then refuses to publish', async () => {
  await must(atelier, 'POST', '/code-agents', { name: 'kept', language: 'python', code });
  await must(atelier, 'POST', '/code-agents/kept/versions', { version: '1.0.0' });
  await studio.openAgent('kept');
  await page.getByRole('tab', { name: 'Input' }).click();
  await page.getByRole('textbox', { name: 'city' }).fill('Oslo');
  await studio.start();
  await studio.ended(/^Succeeded/);
  await keep('Oslo in summer');
  await studio.saved();

  await page.getByRole('tab', { name: 'Tests' }).click();
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByText('1 of 1 test passed').waitFor();

  await studio.replaceCode(broken);
  await page.getByRole('button', { name: 'Run Oslo in summer' }).click();
  await page.getByText('0 of 1 test passed').waitFor();
  const differences = page.getByRole('region', { name: 'Differences of Oslo in summer' });
  await differences.getByText('/degrees').waitFor();
  await differences.getByText('is missing').waitFor();

  await page.getByRole('button', { name: publishButton }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Publish 1\.0\.1/ }).click();
  await dialog.getByRole('alert').getByText('The test "Oslo in summer" fails').waitFor();
  await dialog.getByRole('checkbox', { name: 'Publish although these tests fail, as a major version' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Update expected' }).click();
  await page.getByText('1 of 1 test passed').waitFor();
  await studio.saved();
  await page.getByRole('button', { name: publishButton }).first().click();
  await dialog.getByRole('button', { name: /^Publish 1\.0\.1/ }).click();
  await page.getByRole('dialog', { name: 'Published 1.0.1' }).waitFor();
  const version = (await must(atelier, 'GET', '/code-agents/kept/versions/1.0.1')) as { tests: { name: string }[] };
  expect(version.tests.map((t) => t.name)).toEqual(['Oslo in summer']);
});

test('a type is changed, its form follows, and the test of a result refuses the version that breaks it', async () => {
  const narrow = 'def main(city: str) -> dict[str, str | int]:\n    return {"city": city, "degrees": 21}\n';
  const wide = narrow.replace('city: str', 'city: str, days: int = 1').replace('21', '21 * days');
  await must(atelier, 'POST', '/code-agents', { name: 'shown', language: 'python', code: narrow });
  await studio.openAgent('shown');
  await studio.replaceCode(wide);
  await page.getByRole('tab', { name: 'Input' }).click();
  await page.getByRole('textbox', { name: /^days/ }).fill('2');
  await page.getByRole('textbox', { name: 'city' }).fill('Oslo');
  await studio.start();
  await studio.ended(/^Succeeded/);
  await keep('Two days in Oslo');
  await studio.saved();
  await studio.replaceCode(wide.replace('21 * days', '21'));
  await page.getByRole('tab', { name: 'Tests' }).click();
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByText('0 of 1 test passed').waitFor();
  const differences = page.getByRole('region', { name: 'Differences of Two days in Oslo' });
  await differences.getByText('/degrees').waitFor();
  await differences.getByText('is 21 instead of 42').waitFor();
  await page.getByRole('button', { name: publishButton }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Publish 1\.0\.0/ }).click();
  await dialog.getByRole('alert').getByText('The test "Two days in Oslo" fails').waitFor();
});

test('a run of the history is kept as a test', async () => {
  await must(atelier, 'POST', '/code-agents', { name: 'past', language: 'python', code });
  await must(atelier, 'POST', '/code-agents/past/execute', { version: 'draft', input: { city: 'Oslo' } });
  await must(atelier, 'POST', '/code-agents/past/execute', { version: 'draft', input: { city: 'Bergen' } });
  await studio.openAgent('past');
  await page.getByRole('tab', { name: 'History' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Bergen' });
  await row.getByRole('button', { name: /^Actions for the run of/ }).click();
  await page.getByRole('menuitem', { name: 'Keep as test' }).click();
  const dialog = page.getByRole('dialog', { name: 'Keep as a test' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Bergen');
  await dialog.getByRole('button', { name: 'Keep test' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { draft } = (await must(atelier, 'GET', '/code-agents/past')) as { draft: { tests: unknown } };
  expect(draft.tests).toEqual([
    {
      name: 'Bergen',
      input: { city: 'Bergen' },
      expect: { output: { city: 'Bergen', degrees: 21 } },
      source: 'recorded',
    },
  ]);
});

test('a test is added and edited, and a refused one changes nothing', async () => {
  await must(atelier, 'POST', '/code-agents', { name: 'typed', language: 'python', code });
  await studio.openAgent('typed');
  await page.getByRole('tab', { name: 'Tests' }).click();
  await page.getByRole('button', { name: 'Add test' }).click();
  const dialog = page.getByRole('dialog');
  const field = (name: string) => dialog.getByRole('textbox', { name });
  await field('Name').fill('Oslo');
  await field('Input as JSON').fill('{"city": ');
  await dialog.getByText('This is not valid JSON.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Keep test' }).isDisabled()).toBe(true);
  await field('Input as JSON').fill('{"city": "Oslo"}');
  await dialog.getByRole('radio', { name: 'Error' }).click();
  await field('Type of the error').fill('nonsense');
  await dialog.getByRole('button', { name: 'Keep test' }).click();
  await dialog.getByRole('alert').getByText('must be invalid_input or the type of an error').waitFor();
  await dialog.getByRole('radio', { name: 'Output', exact: true }).click();
  await field('Expected output as JSON').fill('{"city": "Oslo", "degrees": 3}');
  await field('Tags').fill('winter, cold');
  await dialog.getByRole('button', { name: 'Keep test' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Run Oslo' }).click();
  await page.getByText('0 of 1 test passed').waitFor();

  await page.getByRole('button', { name: 'Edit Oslo' }).click();
  await field('Ignored parts of the output').fill('/degrees');
  await dialog.getByRole('button', { name: 'Keep test' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('0 of 1 test passed').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByText('1 of 1 test passed').waitFor();
  const { draft } = (await must(atelier, 'GET', '/code-agents/typed')) as { draft: { tests: unknown } };
  expect(draft.tests).toEqual([
    {
      name: 'Oslo',
      input: { city: 'Oslo' },
      expect: { output: { city: 'Oslo', degrees: 3 } },
      ignore: ['/degrees'],
      source: 'person',
      tags: ['winter', 'cold'],
    },
  ]);
});

test('generated tests show an input that fails, and the picked ones are kept', async () => {
  const dividing = 'def main(n: int) -> float:\n    return 1 / n\n';
  await must(atelier, 'POST', '/code-agents', { name: 'made', language: 'python', code: dividing });
  await studio.openAgent('made');
  await page.getByRole('tab', { name: 'Tests' }).click();
  await page.getByRole('button', { name: 'Generate tests' }).click();
  const dialog = page.getByRole('dialog', { name: 'Generate tests' });
  await dialog.getByText('{"n":0}').waitFor();
  await dialog.getByText('ZeroDivisionError').first().waitFor();
  await dialog
    .getByRole('checkbox', { name: /Passed invalid/ })
    .first()
    .check();
  await dialog.getByRole('button', { name: 'Keep 1 test' }).click();
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByText('1 of 1 test passed').waitFor();
});
