// Code mode: the editor knows the agents that a program may call, and the page of a run lists the runs of these agents.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn, type Session } from './kit/browser';
import { Editing } from './kit/editing';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let session: Session;
let page: Page;

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  for (const [name, code] of [
    ['shout', 'export default ({ text }) => ({ text: text.toUpperCase() })'],
    ['turn-round', 'export default ({ text }) => ({ text: [...text].reverse().join("") })'],
  ] as const) {
    await must(atelier, 'POST', '/code-agents', {
      name,
      language: 'javascript',
      code,
      inputSchema: text,
      outputSchema: text,
    });
    await must(atelier, 'POST', `/code-agents/${name}/versions`, {});
  }
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});
beforeEach(async () => {
  session = await signIn(browser, atelier);
  page = session.page;
});
afterEach(() => session.close());

const tools = { tools: ['shout@^1', 'turn-round@1.0.0'] };

test('TypeScript knows the agents: a wrong input is marked', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'typed',
    language: 'typescript',
    capabilities: tools,
    code: `import { shout, turn_round } from 'agents';
export default async (input: Input, ctx: Ctx) => {
  const { text } = await shout({ text: 'a' });
  return (await ctx.callTool('turn-round@1.0.0', { text })).text.length;
};
`,
  });
  const studio = new Studio(page);
  await studio.openAgent('typed');
  await page.getByRole('button', { name: /^Problems/ }).click();
  const list = page.getByRole('region', { name: 'Problems' });
  await list.getByText('No problems.').waitFor();
  await studio.replaceCode(
    `import { turn_round } from 'agents';\nexport default async () => turn_round({ text: 1 });\n`,
  );
  await list.getByRole('button', { name: /Type 'number' is not assignable to type 'string'/ }).waitFor();
});

test('Python knows the agents: a wrong input is marked', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'python-typed',
    language: 'python',
    capabilities: tools,
    code: 'from agents import shout, turn_round\n\n\ndef main(input, ctx):\n    return turn_round(shout(text="a"))["text"].upper()\n',
  });
  const studio = new Studio(page);
  await studio.openAgent('python-typed');
  await new Editing(page).pythonReady();
  await page.getByRole('button', { name: /^Problems/ }).click();
  const list = page.getByRole('region', { name: 'Problems' });
  await list.getByText('No problems.').waitFor();
  await studio.replaceCode(
    'from agents import shout, whisper\n\n\ndef main(input, ctx):\n    return shout(text=1)["words"]\n',
  );
  await list.getByRole('button', { name: /"whisper" is unknown import symbol/ }).waitFor();
  await list.getByRole('button', { name: /"words" is not a defined key/ }).waitFor();
});

test('the page of a run lists the agents that it called', async () => {
  const run = (await must(atelier, 'POST', '/execute', {
    language: 'javascript',
    capabilities: tools,
    code: `import { shout, turn_round } from 'agents';
export default async () => (await turn_round(await shout({ text: 'ab' }))).text;`,
  })) as { runId: string; output: string };
  expect(run.output).toBe('BA');
  await page.goto(`/studio/runs/${run.runId}`);
  const called = page.getByRole('region', { name: 'Called agents' });
  await called.getByText('shout@1.0.0').waitFor();
  expect(await called.getByRole('listitem').count()).toBe(2);
  expect(await violations(page)).toEqual([]);
  await called.getByRole('link', { name: /turn-round@1\.0\.0/ }).click();
  await page.getByText('The run that called this one').click();
  await page.waitForURL(`**/studio/runs/${run.runId}`);
});
