// The run panel: input form, result, timing and history.
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hold } from './kit/hold';
import { askAgain, refuse } from './kit/refuse';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

async function open(name: string, language: string, entrypoint: string, code: string, more = {}): Promise<void> {
  await must(atelier, 'POST', '/code-agents', { name, language, entrypoint, files: { [entrypoint]: code }, ...more });
  await studio.openAgent(name);
}

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City', default: 'Oslo' },
    days: { type: 'integer', title: 'Days', minimum: 1, maximum: 14, default: 3 },
    units: { type: 'string', title: 'Units', enum: ['metric', 'imperial'], default: 'metric' },
    rain: { type: 'boolean', title: 'Rain', default: true },
    tags: { type: 'array', title: 'Tags', items: { type: 'string' }, default: ['a'] },
    place: {
      type: 'object',
      title: 'Place',
      properties: { street: { type: 'string', title: 'Street', default: 'Main' } },
    },
  },
  required: ['city'],
};
const echo = 'export default (input) => input;\n';

/** Chooses an action in the menu of a row of the history. */
async function choose(history: Locator, row: number, action: string): Promise<void> {
  await history
    .getByRole('row')
    .nth(row)
    .getByRole('button', { name: /^Actions for the run of/ })
    .click();
  await history.page().getByRole('menuitem', { name: action }).click();
}

describe('the form', () => {
  test('A22 has a labelled control for each kind of field, with defaults', async () => {
    await open('kinds', 'javascript', 'main.js', echo, { inputSchema: schema });
    const input = await studio.panel('Input');
    expect(await input.getByRole('textbox', { name: 'City' }).inputValue()).toBe('Oslo');
    expect(await input.getByRole('textbox', { name: 'Days' }).inputValue()).toBe('3');
    expect(
      await input
        .getByRole('combobox', { name: 'Units' })
        .evaluate((s: HTMLSelectElement) => s.selectedOptions[0]?.text),
    ).toBe('metric');
    expect(await input.getByRole('switch', { name: 'Rain' }).isChecked()).toBe(true);
    const tags = input.getByRole('group', { name: 'Tags' });
    expect(await tags.getByRole('textbox').inputValue()).toBe('a');
    const place = input.getByRole('group', { name: 'Place' });
    expect(await place.getByRole('textbox', { name: 'Street' }).inputValue()).toBe('Main');
  });

  test('A24 the form and the JSON edit one value, and an unknown key is kept', async () => {
    await open('both', 'javascript', 'main.js', echo, { inputSchema: schema });
    const input = await studio.panel('Input');
    await studio.setInput('{"city": "Bergen", "days": 12, "stranger": {"n": 12345678901234567890}}');
    await input.getByRole('radio', { name: 'Form' }).click();
    expect(await input.getByRole('textbox', { name: 'City' }).inputValue()).toBe('Bergen');
    await input.getByRole('textbox', { name: 'Days' }).fill('13');
    const text = await studio.inputAsJson();
    expect(text).toContain('12345678901234567890');
    expect(JSON.parse(text)).toMatchObject({ city: 'Bergen', days: 13, stranger: {} });
  });

  test('the JSON is completed and checked by the schema, and Tab leaves it', async () => {
    await open('completed', 'javascript', 'main.js', echo, {
      inputSchema: {
        type: 'object',
        properties: { unit: { enum: ['celsius', 'kelvin'] }, days: { type: 'integer' } },
        required: ['days'],
      },
    });
    await studio.setInput('{"days": "many"}');
    const input = page.getByRole('tabpanel', { name: 'Input' });
    await expect.poll(() => input.locator('.squiggly-error').count()).toBe(1);
    await studio.setInput('{"unit": ""}');
    await expect.poll(() => input.locator('.squiggly-error').count()).toBeGreaterThan(1);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /kelvin/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect.poll(() => studio.jsonInput.evaluate((field) => field === document.activeElement)).toBe(false);
    // A rejected input shows the JSON editor again.
    await page.keyboard.press('ControlOrMeta+Enter');
    await input.getByRole('alert').getByText('days').waitFor();
    await expect.poll(() => studio.jsonInput.evaluate((field) => field === document.activeElement)).toBe(true);
  });
});

describe('a run', () => {
  test('A32 that needs more memory says so and leads to the limit', async () => {
    await open('hungry', 'python', 'main.py', 'def main(input, ctx):\n    return len(bytearray(10**9))\n', {
      limits: { memoryBytes: 64 * 2 ** 20 },
    });
    await studio.start();
    await studio.ended(/^Out of memory ·/);
    const result = await studio.panel('Result');
    await result.getByText(/ of 64 MiB$/).waitFor();
    await result.getByText(/Raise the limit “Memory” \(now 64 MiB\)/).waitFor();
    await result.getByRole('button', { name: 'Raise limit' }).click();
    const limit = page.getByRole('textbox', { name: /^Memory/ });
    await expect.poll(() => limit.evaluate((field) => field === document.activeElement)).toBe(true);
  });

  test('A33 says where its time went and what exactly ran, and copies a whole hash', async () => {
    await open('proven', 'javascript', 'main.js', echo, { inputSchema: schema });
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    const result = await studio.panel('Result');
    for (const name of ['Queue', 'Start', 'Run', 'Peak memory', 'Code', 'Input', 'Runtime'])
      await result
        .getByRole('term')
        .filter({ hasText: new RegExp(`^${name}$`) })
        .first()
        .waitFor();
    await result.getByRole('button', { name: 'Copy code', exact: true }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('A34 that raises leads to the line', async () => {
    const code =
      'import json\n\n\ndef main(input, ctx):\n    items = []\n    # nothing is in it\n    return items[3]\n';
    await open('raises-at', 'python', 'main.py', code);
    await studio.start();
    await studio.ended(/^Failed ·/);
    const result = await studio.panel('Result');
    await result.getByRole('button', { name: /main\.py:7/ }).click();
    await page.getByText(/^Ln 7, Col/).waitFor();
  });

  test('A35 is kept in the history with the ones before it', async () => {
    await open('thrice', 'javascript', 'main.js', echo, { inputSchema: schema });
    for (const city of ['Oslo', 'Bergen', 'Tromso']) {
      const input = await studio.panel('Input');
      await input.getByRole('textbox', { name: 'City' }).fill(city);
      await page.keyboard.press('ControlOrMeta+Enter');
      await studio.panel('Result').then((result) => result.getByText(`"${city}"`).waitFor());
    }
    const history = await studio.panel('History');
    await history.getByRole('img', { name: /^3 runs, 0 failed, median/ }).waitFor();
    expect(await history.getByRole('row').count()).toBe(4);
    await choose(history, 3, 'Re-run with this input');
    await studio.panel('Result').then((result) => result.getByText('"Oslo"').waitFor());
    const input = await studio.panel('Input');
    expect(await input.getByRole('textbox', { name: 'City' }).inputValue()).toBe('Tromso');
    await studio.panel('History');
    await expect.poll(() => history.getByRole('row').count()).toBe(5);
    await choose(history, 4, 'Use this input');
    await expect.poll(() => input.getByRole('textbox', { name: 'City' }).inputValue()).toBe('Oslo');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => input.getByRole('textbox', { name: 'City' }).inputValue()).toBe('Tromso');
  });

  test('that is not there, or is of another agent, does not hold the agent up', async () => {
    await open('other', 'javascript', 'main.js', echo);
    const ran = (await must(atelier, 'POST', '/code-agents/other/execute', { version: 'draft', input: {} })) as {
      runId: string;
    };
    await open('alone', 'javascript', 'main.js', echo);
    for (const id of [crypto.randomUUID(), ran.runId]) {
      await page.goto(`/studio/a/alone?panel=result&run=${id}`);
      await page.getByText(/^This run is not here/).waitFor();
      expect(page.url()).not.toContain('run=');
      await studio.editorReady();
      await studio.start();
      await studio.ended(/^Succeeded/);
    }
  });

  test('is compared with another one of the history', async () => {
    await open('twice', 'javascript', 'main.js', echo, { inputSchema: schema });
    for (const city of ['Oslo', 'Bergen']) {
      const input = await studio.panel('Input');
      await input.getByRole('textbox', { name: 'City' }).fill(city);
      await page.keyboard.press('ControlOrMeta+Enter');
      await studio.panel('Result').then((result) => result.getByText(`"${city}"`).waitFor());
    }
    const history = await studio.panel('History');
    await expect.poll(() => history.getByRole('checkbox').count()).toBe(2);
    for (const box of await history.getByRole('checkbox').all()) await box.check();
    const allow = await refuse(page, '**/api/v1/runs/*');
    await history.getByRole('button', { name: 'Compare two' }).click();
    const dialog = page.getByRole('dialog', { name: 'Compare two runs' });
    await askAgain(dialog, 'The runs could not be loaded.', allow);
    const output = dialog.getByRole('region', { name: 'Changes of output.json' });
    await output
      .getByText(/"Oslo"/)
      .first()
      .waitFor();
    await output
      .getByText(/"Bergen"/)
      .first()
      .waitFor();
    await dialog.getByRole('row', { name: /^State Succeeded Succeeded$/ }).waitFor();
  });

  test('runs again with the input it had, whatever the form says now', async () => {
    await open('again', 'javascript', 'main.js', echo, { inputSchema: schema });
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    const input = await studio.panel('Input');
    await input.getByRole('textbox', { name: 'City' }).fill('Bergen');
    await page.keyboard.press('ControlOrMeta+Shift+Enter');
    await page
      .getByRole('tab', { name: 'Console', selected: true })
      .or(page.getByRole('tab', { name: 'Result', selected: true }))
      .waitFor();
    await studio.ended(/^Succeeded ·/);
    expect(await studio.result()).toMatchObject({ city: 'Oslo' });
  });
});

describe('a run that has to wait for the draft to be saved', () => {
  /** Edits the draft and blocks its save until the returned function is called. */
  async function heldBack(name: string): Promise<() => void> {
    await open(name, 'javascript', 'main.js', echo);
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    const release = await hold(page, '**/api/v1/code-agents/*', 'PUT');
    const saving = page.waitForRequest((request) => request.method() === 'PUT');
    await studio.replace('export default () => "second";\n');
    await saving;
    await studio.start();
    return release;
  }

  test('shows nothing of the one before it', async () => {
    const release = await heldBack('waits');
    await studio.state.filter({ hasText: /^Starting/ }).waitFor();
    release();
    await studio.ended(/^Succeeded ·/);
    expect(await studio.result()).toBe('second');
  });

  test('does not call back who has left', async () => {
    await must(atelier, 'POST', '/code-agents', {
      name: 'elsewhere',
      language: 'javascript',
      entrypoint: 'main.js',
      files: { 'main.js': echo },
    });
    const release = await heldBack('left');
    await page.getByRole('link', { name: /^JavaScript ?elsewhere/ }).click();
    await page.getByRole('heading', { name: 'elsewhere', level: 1 }).waitFor();
    const began = page.waitForResponse((answer) => answer.url().endsWith('/code-agents/left/execute'));
    release();
    await (await began).finished();
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    expect(new URL(page.url()).pathname).toBe('/studio/a/elsewhere');
  });
});

describe('the output', () => {
  const dot =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

  test('is a tree, a table, a text or a picture, and names its paths', async () => {
    const code = `export default () => ({ days: [{ day: 1, sky: 'clear' }, { day: 2, sky: 'rain' }], plot: '${dot}', note: 'one\\ntwo' });\n`;
    await open('looks', 'javascript', 'main.js', code);
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    const result = await studio.panel('Result');
    const picture = result.getByRole('img', { name: 'The picture at $.plot' });
    await picture.waitFor();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    await result.getByRole('radio', { name: 'Table' }).click();
    await result.getByRole('table', { name: '$.days' }).getByRole('row', { name: '2 rain' }).waitFor();
    await result.getByRole('radio', { name: 'Text' }).click();
    await result.getByText('one\ntwo').waitFor();
    await result.getByRole('radio', { name: 'Tree' }).click();
    await result.getByRole('button', { name: 'Copy the path $.days[1].sky' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('$.days[1].sky');
  });
});

describe('an input', () => {
  test('is kept under a name and taken out again', async () => {
    await open('named', 'javascript', 'main.js', echo, { inputSchema: schema });
    const input = await studio.panel('Input');
    const city = input.getByRole('textbox', { name: 'City' });
    await city.fill('Hammerfest');
    await studio.choose('Saved inputs', 'Save this input…');
    const dialog = page.getByRole('dialog', { name: 'Save this input' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('north');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await city.fill('Oslo');
    await page.reload();
    await studio.choose('Saved inputs (1)', 'north');
    await expect.poll(() => city.inputValue()).toBe('Hammerfest');
    await studio.choose('Saved inputs (1)', 'Delete “north”');
    await input.getByRole('button', { name: 'Saved inputs', exact: true }).waitFor();
  });
});
