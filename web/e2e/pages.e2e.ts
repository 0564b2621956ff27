// The pages around the workbench: what needs attention, runs with their people and inputs, results as the schema asks.
import type { Browser, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { signIn, type Session } from './kit/browser';
import { must, publishedAgent, saveDraft } from './kit/seed';
import { eachSignedIn } from './kit/stage';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let page: Page;
let studio: Studio;
eachSignedIn((stage) => ({ atelier, browser, page, studio } = stage));

const divides =
  'export default ({ by }) => {\n  if (by === 0) throw new Error("zero");\n  return { half: 1 / by };\n};\n';

async function run(agent: string, input: unknown, version = 'draft'): Promise<string> {
  const answer = await must(atelier, 'POST', `/code-agents/${agent}/execute`, { version, input });
  return (answer as { runId: string }).runId;
}

describe('the start page', () => {
  test('lists failing agents and those with unpublished changes, and keeps favourites', async () => {
    await publishedAgent(atelier, 'steady');
    await publishedAgent(atelier, 'edited');
    await saveDraft(atelier, 'edited', { files: { 'main.js': 'export default () => 2;\n' } });
    await must(atelier, 'POST', '/code-agents', { name: 'divides', language: 'javascript', code: divides });
    await run('divides', { by: 0 });
    await studio.home();
    const views = page.getByRole('navigation', { name: 'Views of the agents' });
    const found = page.getByRole('list', { name: 'Agents found' });
    const names = (): Promise<string[]> => found.getByRole('link').allInnerTexts();
    await views.getByRole('link', { name: 'Unpublished changes 1' }).click();
    await expect.poll(names).toEqual(['edited']);
    await views.getByRole('link', { name: 'Failing 1' }).click();
    await expect.poll(names).toEqual(['divides']);
    expect(new URL(page.url()).search).toBe('?view=failing');
    await run('divides', { by: 2 });
    await page.reload();
    await page.getByText('The last run of every agent succeeded.').waitFor();
    await views.getByRole('link', { name: 'All', exact: true }).click();
    await found.getByRole('button', { name: 'Favourite steady' }).click();
    await page.reload();
    const panel = page.getByRole('navigation', { name: 'Agents and files' });
    await panel.getByRole('heading', { name: 'Favourites' }).waitFor();
    expect(await panel.getByRole('link', { name: 'steady' }).count()).toBe(2);
  });

  test('counts the tags of all agents, not only of the loaded ones', async () => {
    for (let n = 0; n < 55; n += 1)
      await must(atelier, 'POST', '/code-agents', {
        name: `z-${String(n).padStart(2, '0')}`,
        language: 'javascript',
        code: 'export default () => 1',
        tags: ['many', ...(n === 54 ? ['last'] : [])],
      });
    await studio.home();
    const tags = page.getByRole('combobox', { name: 'Tag' });
    await tags.getByRole('option', { name: 'many (55)' }).waitFor({ state: 'attached' });
    await tags.selectOption('last');
    const panel = page.getByRole('navigation', { name: 'Agents and files' });
    await panel.getByRole('link', { name: 'z-54' }).waitFor();
    expect(await panel.getByRole('link', { name: /z-\d/ }).count()).toBe(1);
  });

  test('loads no editor, and an agent reached from it has one', async () => {
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(request.url()));
    await publishedAgent(atelier, 'reached');
    await studio.home();
    await page.getByRole('list', { name: 'Agents found' }).waitFor();
    expect(scripts.filter((url) => /monaco|AgentPage|kit-/.test(url))).toEqual([]);
    await page.getByRole('list', { name: 'Agents found' }).getByRole('link', { name: 'reached' }).click();
    await studio.editorReady();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  });
});

describe('runs', () => {
  test('name the person, the input and the error, follow new runs, and are repeated from their page', async () => {
    await must(atelier, 'POST', '/code-agents', { name: 'shares', language: 'javascript', code: divides });
    const failed = await run('shares', { by: 0 });
    await page.goto('/studio/runs?agent=shares');
    const table = page.getByRole('region', { name: 'Runs' });
    const row = table.getByRole('row').filter({ hasText: 'zero' });
    await row.getByText('{"by":0}').waitFor();
    await row.getByText('Administrator').waitFor();
    await run('shares', { by: 2 });
    await table.getByText('{"by":2}').waitFor(); // without a reload
    await page.getByRole('img', { name: /^Duration of 2 runs over time: 1 failed/ }).waitFor();

    await page.goto(`/studio/runs/${failed}`);
    await page.getByRole('heading', { name: 'Run of shares', level: 1 }).waitFor();
    await page.getByText('Administrator').waitFor();
    await page.getByRole('link', { name: 'main.js:2' }).waitFor();
    await page.getByRole('button', { name: 'Copy as', exact: true }).click();
    await page.getByRole('menuitem', { name: 'curl command' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('/code-agents/shares/execute');
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(failed));
    await page
      .getByRole('status', { name: 'Run state' })
      .filter({ hasText: /^Failed ·/ })
      .waitFor();
    await page.getByRole('button', { name: 'Compare with previous' }).click();
    await page.getByRole('dialog', { name: 'Compare two runs' }).getByText('No difference.').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Run with changes…' }).click();
    await studio.editorReady();
    expect(await studio.inputAsJson()).toContain('"by": 0');
  });

  test('the filter by agent applies while it is typed', async () => {
    await must(atelier, 'POST', '/code-agents', { name: 'narrow', language: 'javascript', code: divides });
    await run('narrow', { by: 4 });
    await page.goto('/studio/runs');
    await page.getByRole('combobox', { name: 'Agent' }).fill('narrow');
    await page.waitForURL('**/runs?agent=narrow');
    await expect.poll(() => page.getByRole('region', { name: 'Runs' }).getByRole('row').count()).toBe(2);
  });
});

describe('an agent', () => {
  test('A9 a limit is saved when it is complete, and Raise limit replaces the number', async () => {
    await must(atelier, 'POST', '/code-agents', {
      name: 'talks',
      language: 'javascript',
      code: 'export default () => { for (;;) console.log("x".repeat(1000)); };\n',
      limits: { outputBytes: 64 * 1024 },
    });
    await studio.openAgent('talks');
    await studio.start();
    await studio.ended(/^Stopped at the output limit/);
    await page.getByRole('button', { name: 'Raise limit' }).click();
    const field = page.getByRole('textbox', { name: /^Output/ });
    await expect.poll(() => field.evaluate((e) => e === document.activeElement)).toBe(true);
    const limit = async (): Promise<unknown> => {
      const { draft } = (await must(atelier, 'GET', '/code-agents/talks')) as { draft: { limits: unknown } };
      return draft.limits;
    };
    let saves = 0;
    page.on('request', (request) => (saves += request.method() === 'PUT' ? 1 : 0));
    await page.keyboard.type('128');
    expect(await field.inputValue()).toBe('128');
    await studio.saving(() => page.keyboard.press('Enter'));
    expect(await limit()).toMatchObject({ outputBytes: 128 * 1024 });
    expect(saves).toBe(1);
  });

  test('shows its description first and its limits last', async () => {
    await publishedAgent(atelier, 'ordered');
    await studio.openAgent('ordered');
    const panel = page.getByRole('complementary', { name: 'Configuration' });
    const heads = await panel.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(heads[0]).toMatch(/^Description/);
    expect(heads.at(-1)).toMatch(/^Limits/);
  });
});

test('a result is shown as its schema asks, sorts, and downloads as CSV', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'charts',
    language: 'javascript',
    code: 'export default () => ({ report: "# All well\\n\\nNothing *happened*.", rows: [{ day: "2026-11-02", high: 9 }, { day: "2026-11-01", high: 12 }], odd: 1 });\n',
    outputSchema: {
      type: 'object',
      properties: {
        report: { type: 'string', 'x-view': 'markdown' },
        rows: { type: 'array', items: { type: 'object' }, 'x-view': { chart: 'line', x: 'day', y: ['high'] } },
        odd: { type: 'integer', 'x-view': 'table' },
      },
    },
  });
  await studio.openAgent('charts');
  await studio.start();
  await studio.ended(/^Succeeded ·/);
  const result = await studio.panel('Result');
  await result.getByRole('heading', { name: 'All well' }).waitFor();
  await result.getByRole('img', { name: /^line chart of \$\.rows: high by day, 2 points/ }).waitFor();
  await result.getByText('The view table needs a list of flat objects.').waitFor();
  await result.getByRole('radio', { name: 'Table' }).click();
  const first = result.getByRole('row').nth(1).getByRole('cell').first();
  expect(await first.innerText()).toBe('2026-11-02');
  await result.getByRole('button', { name: 'day' }).click();
  expect(await first.innerText()).toBe('2026-11-01');
  const saved = page.waitForEvent('download');
  await result.getByRole('button', { name: 'CSV' }).click();
  expect((await saved).suggestedFilename()).toBe('rows.csv');
});

describe('the tour of the first visit', () => {
  const open = async (width: number): Promise<Session> => {
    const first = await signIn(browser, atelier, { tour: true, width, height: 844 });
    await first.page.goto('/studio/a/toured');
    return first;
  };

  test.each([1440, 390])('%i wide: five steps that can be left, once', async (width) => {
    await must(atelier, 'POST', '/code-agents', { name: 'toured', language: 'javascript', code: divides }).catch(
      () => undefined, // it exists if the test for the other width has created it
    );
    const first = await open(width);
    const card = first.page.getByRole('region', { name: 'Tour', exact: true });
    for (let n = 1; n <= 5; n++) {
      await card.getByText(`${n} of 5`).waitFor();
      const box = await card.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= 844).toBe(true);
      expect(await violations(first.page)).toEqual([]);
      await card.getByRole('button', { name: n < 5 ? 'Next' : 'Done' }).click();
    }
    await card.waitFor({ state: 'detached' });
    await first.page.reload();
    await new Studio(first.page).editorReady();
    expect(await card.count()).toBe(0);
    await first.close();
  });

  test('does not stop anybody from working, and comes back on demand', async () => {
    await must(atelier, 'POST', '/code-agents', { name: 'toured-2', language: 'javascript', code: divides });
    const first = await signIn(browser, atelier, { tour: true });
    const here = new Studio(first.page);
    await here.openAgent('toured-2');
    const card = first.page.getByRole('region', { name: 'Tour', exact: true });
    await card.waitFor();
    await here.replaceCode('export default () => 1;\n');
    await card.getByRole('button', { name: 'Leave the tour' }).click();
    await card.waitFor({ state: 'detached' });
    await here.command('tour', 'Tour of the workbench');
    await card.getByText('1 of 5').waitFor();
    await first.close();
  });
});

describe('the workbench', () => {
  test('marks the line at which a run failed until the next edit, and the file with an error', async () => {
    await must(atelier, 'POST', '/code-agents', { name: 'fails-at', language: 'javascript', code: divides });
    await studio.openAgent('fails-at');
    await run('fails-at', { by: 1 });
    await studio.setInput('{"by": 0}');
    await studio.start();
    await studio.ended(/^Failed ·/);
    const marked = page.locator('.failed-text');
    await expect.poll(() => marked.allInnerTexts()).toEqual([expect.stringContaining('zero')]);
    await studio.replace('export default (input) => input.;\n');
    await expect.poll(() => marked.count()).toBe(0);
    await page.getByRole('treeitem', { name: 'main.js entry, has errors' }).waitFor();
  });

  test('shows the time of each printed line on demand', async () => {
    await must(atelier, 'POST', '/code-agents', {
      name: 'prints',
      language: 'javascript',
      code: 'export default () => console.log("one line");\n',
    });
    await studio.openAgent('prints');
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    const output = await studio.panel('Console');
    expect(await output.getByText(/^\d\d:\d\d:\d\d\.\d{3}$/).count()).toBe(0);
    await output.getByRole('button', { name: 'Show the time of each line' }).click();
    await output.getByText(/^\d\d:\d\d:\d\d\.\d{3}$/).waitFor();
  });

  test('explains ctx and the runtime from the types of the editor', async () => {
    await must(atelier, 'POST', '/code-agents', { name: 'asks', language: 'javascript', code: divides });
    await studio.openAgent('asks');
    await page.keyboard.press('ControlOrMeta+Shift+P');
    await page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox').fill('ctx and runtime');
    await page.keyboard.press('Enter');
    const help = page.getByRole('dialog', { name: 'ctx and runtime' });
    await help.getByRole('heading', { name: 'Ctx', exact: true }).waitFor();
    await help.getByRole('textbox', { name: 'Search' }).fill('searchParams origin');
    await expect.poll(() => help.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual(['URL']);
  });
});

test('an address without a page says so and offers others', async () => {
  await page.goto('/studio/nope/at/all');
  await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
  await page.getByText('/nope/at/all').waitFor();
  await page.getByRole('button', { name: 'All runs' }).click();
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
});

test('code that does not load leads to a page with a report, and a reload goes on', async () => {
  // A context of its own: the fault that this page reports must not count as one of the test.
  const context = await browser.newContext({
    baseURL: atelier.url,
    storageState: await page.context().storageState(),
  });
  const broken = await context.newPage();
  const code = /SkillsPage-[^/]*\.js/;
  await broken.route(code, (route) => route.abort());
  await broken.goto('/studio/skills');
  await broken.getByRole('heading', { name: 'This page could not be loaded', level: 1 }).waitFor();
  await broken.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
  await broken.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  await broken.goBack();
  const report = broken.getByRole('region', { name: 'What happened' });
  await report.getByText('What happened').click();
  await report.getByText(/SkillsPage/).waitFor();
  await report.getByRole('button', { name: 'Copy report' }).waitFor();
  expect(await violations(broken)).toEqual([]);
  await broken.unroute(code);
  await broken.getByRole('button', { name: 'Reload' }).click();
  await broken.getByRole('heading', { name: 'Skills', level: 1 }).waitFor();
  await context.close();
});

test('a misspelt agent suggests the one that is there', async () => {
  await publishedAgent(atelier, 'measure-text');
  await page.goto('/studio/a/mesure-text');
  await page.getByRole('heading', { name: 'Agent not found', level: 1 }).waitFor();
  await page.getByRole('navigation', { name: 'Did you mean' }).getByRole('link', { name: 'measure-text' }).click();
  await studio.editorReady();
});

test('the page of the API searches and opens linked parts', async () => {
  await page.goto('/docs#schema-RunSummary');
  await expect.poll(() => page.locator('#schema-RunSummary').getAttribute('open')).not.toBeNull();
  await page.getByRole('searchbox', { name: 'Search the API' }).fill('inputPreview');
  await page.getByText(/^\d+ parts? match/).waitFor();
  await expect.poll(() => page.locator('#createAgent').isVisible()).toBe(false);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`:root[data-theme='${colorScheme}']`).waitFor({ state: 'attached' });
  }
  await page.getByRole('button', { name: 'Switch theme' }).click();
  await page.locator(':root[data-theme=light]').waitFor({ state: 'attached' });
  expect(await page.evaluate(async () => (await document.fonts.load("13px 'Inter Variable'")).length)).toBe(1);
  await page.evaluate(() => localStorage.removeItem('atelier.theme'));
});

test('A24 the input of a sample and saved inputs belong to the agent, not to one browser', async () => {
  await studio.home();
  await studio.openSample('Weather');
  await studio.panel('Input');
  await studio.saving(async () => {
    await studio.choose('Saved inputs (1)', 'Save this input…');
    const dialog = page.getByRole('dialog', { name: 'Save this input' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('mine');
    await dialog.getByRole('button', { name: 'Save' }).click();
  });
  const city = (): Promise<string> => page.getByRole('tabpanel', { name: 'Input' }).getByLabel('City').inputValue();
  const before = await city();
  expect(before).not.toBe('');
  await page.evaluate(() => localStorage.clear()); // like the browser of another person
  await page.reload();
  await studio.editorReady();
  await studio.panel('Input');
  await page.getByRole('button', { name: 'Saved inputs (2)' }).waitFor();
  expect(await city()).toBe(before);
});

test('A21 output that reverses its direction is shown as it is stored', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'reverses',
    language: 'javascript',
    code: 'export default () => { console.log("\\u202Elive"); return "\\u202Elive"; };\n',
  });
  await studio.openAgent('reverses');
  await studio.start();
  await studio.ended(/^Succeeded ·/);
  await (await studio.panel('Result')).getByText('"[U+202E]live"').waitFor();
  await (await studio.panel('Console')).getByText('[U+202E]live').waitFor();
});

test('a text is replaced in all files, and the replacement can be undone', async () => {
  await must(atelier, 'POST', '/code-agents', {
    name: 'replaces',
    language: 'javascript',
    entrypoint: 'main.js',
    files: {
      'main.js': 'import { old } from "./old.js";\nexport default () => old;\n',
      'old.js': 'export const old = 1;\n',
    },
  });
  await studio.openAgent('replaces');
  await page.getByRole('button', { name: 'Search in files' }).click();
  await page.getByRole('searchbox', { name: 'Search in files' }).fill('old;');
  await page.getByRole('textbox', { name: 'Replace by' }).fill('old + 1;');
  await studio.saving(() => page.getByRole('button', { name: 'Replace all' }).click());
  const code = async (): Promise<unknown> => {
    const { draft } = (await must(atelier, 'GET', '/code-agents/replaces')) as { draft: { files: unknown } };
    return draft.files;
  };
  expect(await code()).toMatchObject({ 'main.js': expect.stringContaining('=> old + 1;') as string });
  await page.getByText('Replaced 1 match in 1 file.').waitFor();
  await studio.saving(() => page.getByRole('button', { name: 'Undo' }).click());
  expect(await code()).toMatchObject({ 'main.js': expect.stringContaining('=> old;') as string });
});
