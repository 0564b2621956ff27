// The runs of a workspace, one run by its address, and what the server itself says of its engines and walls.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { must, publishedAgent } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

test('every run is listed, narrowed by its address, and opened where it ran', async () => {
  await publishedAgent(atelier, 'listed');
  await must(atelier, 'POST', '/code-agents/listed/execute', { version: '1.0.0', input: { city: 'Oslo' } });
  await must(atelier, 'POST', '/execute', { language: 'javascript', code: 'throw new Error("no")', input: {} });
  await page.goto('/studio/runs');
  const table = page.getByRole('region', { name: 'Runs' });
  await must(atelier, 'POST', '/code-agents/listed/execute', { version: 'draft', input: { city: 'Bergen' } });
  await page.reload();
  await table.getByRole('row', { name: /^Failed inline javascript/ }).waitFor();
  await page.getByRole('combobox', { name: 'State' }).selectOption({ label: 'Succeeded' });
  await page.waitForURL('**/runs?status=succeeded');
  await table.getByRole('row', { name: /^Failed/ }).waitFor({ state: 'hidden' });
  const agent = page.getByRole('searchbox', { name: 'Agent', exact: true });
  await agent.fill('listed');
  await agent.press('Enter');
  await page.waitForURL('**/runs?status=succeeded&agent=listed');
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  expect(await table.getByRole('link', { name: 'listed', exact: true }).getAttribute('href')).toMatch(/\/a\/listed\?/);
  await table.getByRole('link', { name: 'listed@1.0.0' }).click();
  await studio.ended(/^Succeeded in/);
});

test('a run of code without an agent has an address too', async () => {
  const run = (await must(atelier, 'POST', '/execute', {
    language: 'python',
    code: 'def main(input, ctx):\n    print("seen", input["n"])\n    return {"twice": input["n"] * 2}\n',
    input: { n: 21 },
  })) as { runId: string };
  await page.goto(`/studio/runs/${run.runId}`);
  await studio.ended(/^Succeeded in/);
  await page.getByRole('region', { name: 'Output value' }).getByText('42').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'seen 21' }).waitFor();
  await page.getByText('Provenance').waitFor();
});

test('a run that is not there is told of, with a way on', async () => {
  await page.goto('/studio/runs/01890000-0000-7000-8000-000000000000');
  await page.getByText(/could not be opened/).waitFor();
  await page.getByRole('button', { name: 'All runs' }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
});

test('the server says what it can run and how it is walled in', async () => {
  await page.goto('/studio/');
  await page.getByRole('link', { name: /^Sandbox:/ }).click();
  await page.getByRole('heading', { name: 'Server', exact: true }).waitFor();
  await page.getByRole('row', { name: /^python Python (Ready|Not ready)/ }).waitFor();
  await page.getByText(/^Level \w+/).waitFor();
  await page.getByRole('row', { name: /^Memory 256 MiB 2 GiB/ }).waitFor();
});
