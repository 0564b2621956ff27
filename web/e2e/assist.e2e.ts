// Proposals of a language model: shown as differences, applied by the person whole or in parts. The model is a server
// that gives prepared answers.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

const code = 'def main(names: list[str]) -> str:\n    return names[0].upper()\n';
const answers: string[] = [];
/** Prepares the next answers of the model. */
const prepare = (...next: unknown[]): void => {
  answers.splice(0, answers.length, ...next.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))));
};

interface Gap {
  prompt: string;
  suffix: string;
}
/** Answers a request for the text at a gap. If it is undefined, the model does not support such requests. */
let fill: ((gap: Gap, response: ServerResponse) => void) | undefined;

let model: Server;
let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  model = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/v1/completions') {
        if (fill) fill(JSON.parse(Buffer.concat(parts).toString()) as Gap, response);
        else response.writeHead(404).end();
        return;
      }
      const content = answers.shift() ?? '';
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({ choices: [{ message: { content } }], usage: { prompt_tokens: 90, completion_tokens: 10 } }),
      );
    });
  });
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done));
  const { port } = model.address() as AddressInfo;
  const flags = [
    '--llm-base-url',
    `http://127.0.0.1:${port}/v1`,
    '--llm-model',
    'scripted',
    '--llm-models',
    'large',
    '--llm-first-delay',
    '1ms',
  ];
  [atelier, browser] = await Promise.all([startAtelier(...flags), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  await new Promise((done) => model.close(done));
});

test('a failed run gets a proposed fix, which is applied and then succeeds', async () => {
  prepare('I am only prose.', {
    explanation: 'The list of names can be empty.',
    edits: [{ file: 'main.py', old: 'names[0].upper()', new: 'names[0].upper() if names else ""' }],
  });
  await must(atelier, 'POST', '/code-agents', { name: 'fixed', language: 'python', code });
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('fixed');
    await page.getByRole('tab', { name: 'Input' }).click();
    await studio.start();
    await studio.ended(/^Failed/);
    await page.getByRole('tab', { name: 'Result' }).click();
    await page.getByRole('button', { name: 'Propose a fix' }).click();
    const dialog = page.getByRole('dialog', { name: 'Propose a fix' });
    await dialog.getByText('The list of names can be empty.').waitFor();
    await dialog.getByText('With this change the run succeeds').waitFor();
    await dialog.getByText('1 earlier attempt failed').waitFor();
    await dialog.getByRole('region', { name: 'main.py' }).getByText('if names else').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The proposed fix was applied.').waitFor();
    await studio.saved();
    await studio.start();
    await studio.ended(/^Succeeded/);
  } finally {
    await session.close();
  }
});

const greeting = "export default function main({ name }) {\n  return { greeting: 'Hello, ' + name };\n}\n";
const change = (part: object): object => ({
  explanation: 'It greets nobody too.',
  edits: [],
  inputSchema: '',
  outputSchema: '',
  sampleInput: '{"name":"Ada"}',
  tests: [],
  ...part,
});

test('a described agent is proposed after a failed attempt, shown and created', async () => {
  const program = (expected: string): object => ({
    name: 'word-count',
    title: 'Count words',
    description: 'Counts the words of a text.',
    plan: ['Split the text.', 'Count the parts.'],
    files: [{ path: 'main.py', content: 'def main(input, ctx):\n    return {"words": len(input["text"].split())}\n' }],
    inputSchema: '{"type":"object","required":["text"],"properties":{"text":{"type":"string","description":"Text."}}}',
    outputSchema: '{"type":"object","properties":{"words":{"type":"integer","description":"Number of words."}}}',
    sampleInput: '{"text":"one two"}',
    tests: [{ name: 'two words', input: '{"text":"a b"}', output: expected }],
  });
  prepare(program('{"words":3}'), program('{"words":2}'));
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.home();
    await page.getByRole('button', { name: 'New agent' }).first().click();
    await page.getByRole('button', { name: 'A description' }).click();
    const dialog = page.getByRole('dialog', { name: 'Describe a new agent' });
    await dialog.getByRole('textbox', { name: 'What should it do?' }).fill('Count the words of a text.');
    await dialog.getByRole('radio', { name: 'Python' }).click();
    await dialog.getByRole('button', { name: 'Propose' }).click();
    await dialog.getByText('Split the text.').waitFor();
    await dialog.getByText('1 earlier attempt failed').click();
    await dialog.getByText(/test "two words" expects/).waitFor();
    await dialog.getByRole('region', { name: 'main.py', exact: true }).getByText('split()').first().waitFor();
    await expect.poll(() => dialog.getByRole('checkbox', { name: 'main.py' }).isDisabled()).toBe(true);
    await dialog.getByRole('checkbox', { name: 'Output schema' }).click();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create agent' }).click();
    await studio.editorReady();
    await studio.start();
    await studio.ended(/^Succeeded/);
    expect(await studio.result()).toEqual({ words: 2 });
    const made = (await must(atelier, 'GET', '/code-agents/word-count')) as {
      draft: { outputSchema: unknown; tests: unknown[]; rules: unknown };
    };
    expect(made.draft.tests).toHaveLength(1);
    expect(made.draft.rules).toMatchObject({ pack: 'restricted' });
    expect(made.draft.outputSchema).not.toHaveProperty('properties.words');
  } finally {
    await session.close();
  }
});

test('a described change is applied by part, and undone', async () => {
  prepare(
    change({
      edits: [{ file: 'main.js', old: "'Hello, ' + name", new: "'Hello, ' + (name ?? 'nobody')" }],
      inputSchema: '{"type":"object","properties":{"name":{"type":"string"}}}',
      tests: [{ name: 'nobody', input: '{}', output: '{"greeting":"Hello, nobody"}' }],
    }),
  );
  await must(atelier, 'POST', '/code-agents', { name: 'changed', language: 'javascript', code: greeting });
  const read = async () =>
    (await must(atelier, 'GET', '/code-agents/changed')) as {
      draft: { files: Record<string, string>; tests?: unknown[] };
    };
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('changed');
    await studio.choose('Language model', 'Describe a change…');
    const dialog = page.getByRole('dialog', { name: 'Describe a change' });
    await dialog.getByRole('textbox', { name: 'What should change?' }).fill('Greet nobody too.');
    await dialog.getByRole('button', { name: 'Propose' }).click();
    await dialog.getByText('It greets nobody too.').waitFor();
    expect((await read()).draft.files['main.js']).toBe(greeting); // nothing is applied before the person has seen it
    await dialog.getByRole('checkbox', { name: 'Tests' }).click();
    await studio.saving(() => dialog.getByRole('button', { name: 'Apply' }).click());
    const { draft } = await read();
    expect(draft.files['main.js']).toContain('nobody');
    expect(draft.tests ?? []).toEqual([]);
    await studio.saving(() => page.getByRole('button', { name: 'Undo' }).click());
    expect((await read()).draft.files['main.js']).toBe(greeting);
  } finally {
    await session.close();
  }
});

test('undo keeps a schema that was edited after the change', async () => {
  prepare(
    change({
      edits: [{ file: 'main.js', old: "'Hello, ' + name", new: "'Hello, ' + (name ?? 'nobody')" }],
      inputSchema: '{"type":"object","properties":{"name":{"type":"string"}}}',
    }),
  );
  await must(atelier, 'POST', '/code-agents', { name: 'edited-since', language: 'javascript', code: greeting });
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('edited-since');
    await page.getByRole('button', { name: 'Edit input schema' }).click();
    await page.getByRole('radio', { name: 'JSON' }).first().click();
    await studio.choose('Language model', 'Describe a change…');
    const dialog = page.getByRole('dialog', { name: 'Describe a change' });
    await dialog.getByRole('textbox', { name: 'What should change?' }).fill('Greet nobody too.');
    await dialog.getByRole('button', { name: 'Propose' }).click();
    await dialog.getByText('It greets nobody too.').waitFor();
    await studio.saving(() => dialog.getByRole('button', { name: 'Apply' }).click());
    await studio.replaceCode('{"type": "object", "properties": {"mine": {"type": "string"}}}');
    await studio.saving(() => page.getByRole('button', { name: 'Undo' }).click());
    const { draft } = (await must(atelier, 'GET', '/code-agents/edited-since')) as {
      draft: { files: Record<string, string>; inputSchema: unknown };
    };
    expect(draft.files['main.js']).toBe(greeting);
    expect(draft.inputSchema).toHaveProperty('properties.mine');
  } finally {
    await session.close();
  }
});

test('findings of a review are marked as opinions until the file changes', async () => {
  prepare({ summary: 'One fault.', findings: [{ file: 'main.js', line: 2, severity: 'high', message: 'No name.' }] });
  await must(atelier, 'POST', '/code-agents', { name: 'reviewed', language: 'javascript', code: greeting });
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('reviewed');
    await studio.command('review the code', 'Language model: review the code');
    const dialog = page.getByRole('dialog', { name: 'Review the code' });
    await dialog.getByText('One fault.').waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'main.js:2' }).click();
    await studio.command('toggle problems', 'Toggle problems');
    const problems = page.getByRole('region', { name: 'Problems' });
    await problems.getByText('Opinion of scripted: No name.').waitFor();
    await studio.replaceCode(`// new\n${greeting}`);
    await problems.getByText('Opinion of scripted: No name.').waitFor({ state: 'detached' });
  } finally {
    await session.close();
  }
});

test('code is suggested while typing, accepted with Tab, and cancelled by typing on', async () => {
  const gaps: Gap[] = [];
  const cancelled: string[] = [];
  const waiting: ServerResponse[] = [];
  fill = (gap, response) => {
    gaps.push(gap);
    response.on('close', () => response.writableFinished || cancelled.push(gap.prompt));
    if (gap.prompt.endsWith('const first = '))
      response.end(JSON.stringify({ choices: [{ text: 'names[0];' }], usage: {} }));
    else waiting.push(response);
  };
  await must(atelier, 'POST', '/code-agents', {
    name: 'typed',
    language: 'javascript',
    code: 'export default function main({ names }) {\n\n}\n',
  });
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('typed');
    const write = async (text: string): Promise<void> => {
      await studio.editor.focus();
      await page.keyboard.press('ControlOrMeta+Home');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+End');
      await page.keyboard.type(text);
    };
    await studio.saving(() => write('  let first =')); // suggestions are off until a person switches them on

    const shown = (): Promise<number> => page.evaluate(() => performance.getEntriesByName('editor-ready').length);
    const before = await shown();
    await page.getByRole('button', { name: 'Editor settings' }).click();
    const dialog = page.getByRole('dialog', { name: 'Editor settings' });
    await dialog.getByRole('checkbox', { name: 'Suggest code while typing' }).check();
    await expect.poll(shown).toBeGreaterThan(before); // the editor has received the suggestions
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(gaps).toEqual([]);

    await write('  const first =');
    const unfinished = { prompt: 'export default function main({ names }) {\n  const first =', suffix: '\n}\n' };
    await expect.poll(() => gaps).toContainEqual(expect.objectContaining(unfinished));
    await page.keyboard.type(' '); // the model has not answered yet
    await expect.poll(() => cancelled).toContain(unfinished.prompt);
    const ghost = page.locator('.ghost-text-decoration', { hasText: 'names' });
    await ghost.waitFor();
    await studio.saving(() => page.keyboard.press('Tab'));
    await ghost.waitFor({ state: 'detached' });
    const { draft } = (await must(atelier, 'GET', '/code-agents/typed')) as {
      draft: { files: Record<string, string> };
    };
    expect(draft.files['main.js']).toBe('export default function main({ names }) {\n  const first = names[0];\n}\n');

    // Only the editor's own cancellations are silent.
    const silenced = await page.evaluate(
      () =>
        new Promise<boolean>((seen) => {
          const heard = (event: PromiseRejectionEvent): void => {
            seen(event.defaultPrevented);
            event.preventDefault();
          };
          addEventListener('unhandledrejection', heard, { once: true });
          const reason = new Error('Canceled');
          reason.name = 'Canceled';
          void Promise.reject(reason);
        }),
    );
    expect(silenced).toBe(false);

    // With the model switched off nothing is asked for, also in an editor that had suggestions.
    await studio.command('usage', 'Usage, budgets and quotas');
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('The language model is off.').waitFor();
    await page.getByRole('combobox', { name: 'Model' }).selectOption('large');
    await page.getByText('The workspace uses large once the language model is switched on.').waitFor();
    await page.goBack();
    await studio.editorReady();
    const asked: string[] = [];
    page.on('request', (request) => request.url().endsWith('/assist/complete') && asked.push(request.url()));
    await studio.saving(() => write('  const second =')); // a save waits longer than the editor waits before it requests a suggestion
    expect(asked).toEqual([]);
  } finally {
    await must(atelier, 'PUT', '/language-model', { on: true, model: 'scripted' });
    for (const response of waiting) response.end();
    fill = undefined;
    await session.close();
  }
});

test('an administrator chooses another model for the workspace', async () => {
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    await page.goto('/studio/usage');
    await page.getByRole('combobox', { name: 'Model' }).selectOption('large');
    await page.getByText('The workspace uses large.').waitFor();
    await page.getByText(/^large is on\./).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await must(atelier, 'GET', '/language-model')).toMatchObject({ model: 'large', on: true });
  } finally {
    await session.close();
    await must(atelier, 'PUT', '/language-model', { on: true, model: 'scripted' });
  }
});

test('a workspace without a model offers none of it', async () => {
  await must(atelier, 'PUT', '/language-model', { on: false });
  await must(atelier, 'POST', '/code-agents', { name: 'alone', language: 'javascript', code: greeting });
  const session = await signIn(browser, atelier);
  try {
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('alone');
    await page.getByRole('button', { name: 'More about alone' }).waitFor();
    expect(await page.getByRole('button', { name: 'Language model' }).count()).toBe(0);
  } finally {
    await session.close();
    await must(atelier, 'PUT', '/language-model', { on: true });
  }
});
