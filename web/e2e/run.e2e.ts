// The run panel: the form of the input, what became of a run, where its time went, and the runs before it.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
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

  test('A24 and the JSON are one value; a key nobody knows survives', async () => {
    await open('both', 'javascript', 'main.js', echo, { inputSchema: schema });
    const input = await studio.panel('Input');
    await input.getByRole('radio', { name: 'JSON' }).click();
    const raw = input.getByRole('textbox', { name: 'Input as JSON' });
    await raw.fill('{"city": "Bergen", "days": 12, "stranger": {"n": 12345678901234567890}}');
    await input.getByRole('radio', { name: 'Form' }).click();
    expect(await input.getByRole('textbox', { name: 'City' }).inputValue()).toBe('Bergen');
    await input.getByRole('textbox', { name: 'Days' }).fill('13');
    await input.getByRole('radio', { name: 'JSON' }).click();
    const text = await raw.inputValue();
    expect(text).toContain('12345678901234567890');
    expect(JSON.parse(text)).toMatchObject({ city: 'Bergen', days: 13, stranger: {} });
  });
});

describe('a run', () => {
  test('A33 says where its time went and what exactly ran, and copies a whole hash', async () => {
    await open('proven', 'javascript', 'main.js', echo, { inputSchema: schema });
    await studio.start();
    await studio.ended(/^Succeeded in/);
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
    await studio.ended(/^Failed in/);
    const result = await studio.panel('Result');
    await result.getByRole('button', { name: /main\.py:7/ }).click();
    await page.getByText(/^Ln 7, Col/).waitFor();
  });
});
