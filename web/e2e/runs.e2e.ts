// The list of runs, the page of a run, and the server page with engines and isolation.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { refuse } from './kit/refuse';
import { must, publishedAgent, saveDraft } from './kit/seed';
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
  await table.getByRole('row', { name: /Failed.*inline javascript/ }).waitFor();
  await page.getByRole('combobox', { name: 'State' }).selectOption({ label: 'Succeeded' });
  await page.waitForURL('**/runs?status=succeeded');
  await table.getByRole('row', { name: /Failed/ }).waitFor({ state: 'hidden' });
  const agent = page.getByRole('combobox', { name: 'Agent', exact: true });
  await agent.fill('listed');
  await agent.press('Enter');
  await page.waitForURL('**/runs?status=succeeded&agent=listed');
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  expect(await table.getByRole('link', { name: 'listed', exact: true }).getAttribute('href')).toMatch(/\/a\/listed\?/);
  await table.getByRole('link', { name: 'listed@1.0.0' }).click();
  await studio.ended(/^Succeeded ·/);
});

test('runs are sorted by duration and back by time', async () => {
  const slow = 'export default () => { const end = Date.now() + 60; while (Date.now() < end); }';
  await must(atelier, 'POST', '/execute', { language: 'javascript', code: slow, input: { pace: 'slow' } });
  await must(atelier, 'POST', '/execute', {
    language: 'javascript',
    code: 'export default () => 1',
    input: { pace: 'fast' },
  });
  await page.goto('/studio/runs?range=1h');
  const table = page.getByRole('region', { name: 'Runs' });
  const durations = async (): Promise<number[]> =>
    (await table.locator('td:nth-child(6)').allInnerTexts()).map(
      (text) => Number.parseFloat(text) * (/^[\d.,]+\sms/.test(text) ? 1 : 1000),
    );
  const first = table.getByRole('row').nth(1);
  await first.filter({ hasText: 'fast' }).waitFor();
  await table.getByRole('button', { name: 'Duration' }).click();
  await table.getByRole('columnheader', { name: 'Duration' }).and(page.locator('[aria-sort=descending]')).waitFor();
  const slowest = await durations();
  expect(slowest.length).toBeGreaterThan(1);
  expect(slowest).toEqual([...slowest].sort((a, b) => b - a));
  await table.getByRole('button', { name: 'When' }).click();
  await first.filter({ hasText: 'fast' }).waitFor();
});

test('filters that leave no run are taken off in one step', async () => {
  await must(atelier, 'POST', '/execute', { language: 'javascript', code: 'throw new Error("no")', input: {} });
  await page.goto('/studio/runs?status=succeeded&agent=nobody');
  await page.getByText('No run matches these filters.').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page
    .getByRole('row', { name: /Failed.*inline javascript/ })
    .first()
    .waitFor();
  expect(new URL(page.url()).search).toBe('');
  expect(await page.getByRole('combobox', { name: 'Agent', exact: true }).inputValue()).toBe('');
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(false);
});

test('a view is saved with a name, opened again after a reload, and deleted', async () => {
  await page.goto('/studio/runs?status=failed&range=7d');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save this view' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Bad week');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'View: Bad week' }).click();
  await page.getByRole('menuitem', { name: 'Running now' }).click();
  await page.waitForURL('**/runs?status=running');
  await page.reload();
  await page.getByRole('button', { name: 'View: Running now' }).click();
  await page.getByRole('menuitem', { name: 'Bad week', exact: true }).click();
  await page.waitForURL('**/runs?status=failed&range=7d');
  await page.getByRole('button', { name: 'View: Bad week' }).click();
  await page.getByRole('menuitem', { name: 'Delete “Bad week”' }).click();
  await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
});

test('a run of code without an agent has an address too', async () => {
  const run = (await must(atelier, 'POST', '/execute', {
    language: 'python',
    code: 'def main(input, ctx):\n    print("seen", input["n"])\n    return {"twice": input["n"] * 2}\n',
    input: { n: 21 },
  })) as { runId: string };
  await page.goto(`/studio/runs/${run.runId}`);
  const place = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' });
  expect(await place.getAttribute('aria-current')).toBe('true');
  await studio.ended(/^Succeeded ·/);
  await page.getByRole('region', { name: 'Output value' }).getByText('42').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'seen 21' }).waitFor();
  await page.getByText('Provenance').waitFor();
});

test('an output fits a schema only where there is one', async () => {
  const ran = async (name: string, outputSchema: object): Promise<string> => {
    await must(atelier, 'POST', '/code-agents', {
      name,
      language: 'javascript',
      entrypoint: 'main.js',
      files: { 'main.js': 'export default () => ({ n: 42 });\n' },
      outputSchema,
    });
    return ((await must(atelier, 'POST', `/code-agents/${name}/execute`, { version: 'draft' })) as { runId: string })
      .runId;
  };
  const [free, asked] = [await ran('free', {}), await ran('asked', { type: 'object', required: ['n'] })];
  const output = page.getByRole('region', { name: 'Output value' });
  for (const place of [`/runs/${asked}`, `/a/asked?panel=result&run=${asked}`]) {
    await page.goto(`/studio${place}`);
    await output.getByText('fits the output schema').waitFor();
  }
  for (const place of [`/runs/${free}`, `/a/free?panel=result&run=${free}`]) {
    // Nothing is reported before the schema is loaded.
    const schema = page.waitForResponse((answer) => answer.url().endsWith('/api/v1/code-agents/free'));
    await page.goto(`/studio${place}`);
    await output.getByText('42').waitFor();
    await (await schema).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await output.getByText('schema').count(), place).toBe(0);
  }
});

test('loaded runs stay when a refresh fails, and a draft is checked against its current schema', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'kept',
    language: 'javascript',
    entrypoint: 'main.js',
    files: { 'main.js': 'export default () => ({ n: 42 });\n' },
    outputSchema: { type: 'object', required: ['n'] },
  });
  await must(atelier, 'POST', '/code-agents/kept/execute', { version: 'draft' });
  await page.goto('/studio/a/kept?schema=output&panel=history');
  const history = page.getByRole('tabpanel', { name: 'History' });
  await history.getByRole('button', { name: /show the run of/ }).click();
  await page.getByRole('tab', { name: 'Result' }).click();
  const output = page.getByRole('region', { name: 'Output value' });
  await output.getByText('fits the output schema').waitFor();
  await page.getByRole('button', { name: 'Add property' }).click();
  await page.getByRole('checkbox', { name: 'property is required' }).check();
  await output.getByText('does not fit the output schema').waitFor();

  await page.route('**/api/v1/runs?*', (route) => route.fulfill({ status: 404, json: { title: 'Not now.' } }));
  const asked = page.waitForResponse((answer) => answer.status() === 404);
  await studio.start(); // the list is stale after a run ends
  await studio.ended(/ · /);
  await page.getByRole('tab', { name: 'History' }).click();
  await (await asked).finished();
  await history
    .getByRole('row', { name: /Succeeded/ })
    .getByRole('checkbox')
    .check();
  expect(await history.getByRole('button', { name: 'Retry' }).count()).toBe(0);
});

test('an older run of a draft says how it fared by the schema of its time, where that of now says something else', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'aged',
    language: 'javascript',
    entrypoint: 'main.js',
    files: { 'main.js': 'export default () => ({ n: 42 });\n' },
    outputSchema: { type: 'object', required: ['n'] },
  });
  const { runId } = (await must(atelier, 'POST', '/code-agents/aged/execute', { version: 'draft' })) as {
    runId: string;
  };
  await saveDraft(atelier, 'aged', { outputSchema: { type: 'object', required: ['other'] } });
  const output = page.getByRole('region', { name: 'Output value' });
  for (const place of [`/runs/${runId}`, `/a/aged?panel=result&run=${runId}`]) {
    await page.goto(`/studio${place}`);
    await output.getByText('fitted the output schema when it ran', { exact: true }).waitFor();
  }
});

test('a missing run shows a message and a link', async () => {
  await page.goto('/studio/runs/01890000-0000-7000-8000-000000000000');
  await page.getByText(/could not be opened/).waitFor();
  await page.getByRole('button', { name: 'All runs' }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
});

test('a run that could only not be asked for comes when it is asked again', async () => {
  const { runId } = (await must(atelier, 'POST', '/execute', {
    language: 'javascript',
    code: 'export default () => 1;\n',
    input: {},
  })) as { runId: string };
  const allow = await refuse(page, `**/api/v1/runs/${runId}`);
  await page.goto(`/studio/runs/${runId}`);
  await page.getByText(/could not be opened.* Not now\./).waitFor();
  await allow();
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('heading', { name: 'Run', level: 1 }).waitFor();
});

test('failed requests succeed on retry', async () => {
  await page.goto('/studio/settings/about');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const parts = { capabilities: /^\w+: (every protection|this machine lacks)/, runtimes: /^Ready|^Not ready/ };
  for (const part of Object.keys(parts))
    await page.route(`**/api/v1/${part}`, (route) => route.fulfill({ status: 403, json: { title: 'Not now.' } }));
  await page.goto('/studio/server');
  const main = page.getByRole('main');
  await expect.poll(() => main.getByRole('alert').count()).toBe(2);
  for (const [part, words] of Object.entries(parts)) {
    const section = main.getByRole('alert').filter({ hasText: `The ${part === 'runtimes' ? 'engines' : part} could` });
    await section.waitFor();
    await page.unroute(`**/api/v1/${part}`);
    await section.getByRole('button', { name: 'Retry' }).click();
    await main.getByText(words).first().waitFor();
  }
  expect(await main.getByRole('alert').count()).toBe(0);
});

test('the server says what it can run and how it is walled in', async () => {
  await page.goto('/studio/');
  await page.getByRole('link', { name: /^Sandbox:/ }).click();
  await page.getByRole('heading', { name: 'Server', exact: true }).waitFor();
  await page.getByRole('row', { name: /^python Python (Ready|Not ready)/ }).waitFor();
  await page.getByText(/^\w+: (every protection|this machine lacks)/).waitFor();
  await page.getByRole('row', { name: /^Memory 256 MiB 2 GiB/ }).waitFor();
});

test('the server lists only languages that no engine runs, with the reason of each engine', async () => {
  const engine = (runtime: string, reason?: string) => ({ runtime, available: reason === undefined, reason });
  await page.route('**/api/v1/capabilities', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { languages: { language: string }[] };
    const states: Record<string, object> = {
      typescript: { available: false, engines: [engine('goja', 'Goja is off.'), engine('node')] },
      python: { available: false, engines: [engine('python', 'No python.'), engine('e2b', 'Set E2B_API_KEY.')] },
      bash: { available: false, reason: 'The self-test failed.', engines: undefined },
    };
    const languages = body.languages.map((one) => ({ ...one, ...states[one.language] }));
    await route.fulfill({ response: answer, json: { ...body, languages } });
  });
  await page.goto('/studio/settings/about');
  await page.reload();
  await page.goto('/studio/server');
  const missing = page.getByRole('region', { name: 'Unavailable languages' });
  await missing.waitFor();
  expect((await missing.innerText()).split(/\n+/)).toEqual([
    'Unavailable languages',
    'Python',
    'python: No python.',
    'e2b: Set E2B_API_KEY.',
    'Bash',
    'The self-test failed.',
  ]);
  await page.unroute('**/api/v1/capabilities');
});

test('the server shows the queue of the last hour as a picture', async () => {
  await page.route('**/api/v1/runtimes', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { load: { waiting: number }[] };
    body.load.forEach((minute, n) => (minute.waiting = n === 30 ? 7 : 0));
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto('/studio/server');
  await page.getByText('at most 7 waited').waitFor();
  await page.getByText('Schema inference also executes programs').waitFor();
  expect(await page.getByRole('main').getByRole('img').getAttribute('aria-label')).toContain('at most 7 waited');
  await page.unroute('**/api/v1/runtimes');
});

test('the server shows the runs of the last hour', async () => {
  await page.goto('/studio/server');
  const picture = page.getByRole('main').getByRole('img');
  const started = async (): Promise<number> =>
    Number(/(\d+) started in the last hour/.exec((await picture.getAttribute('aria-label')) ?? '')?.[1]);
  const before = await started();
  await must(atelier, 'POST', '/execute', { language: 'javascript', code: 'export default () => 1' });
  await expect.poll(started).toBe(before + 1);
});
