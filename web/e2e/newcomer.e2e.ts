// The first visit, in four languages: open the printed link, run a sample, change it, publish it, export it as a tool
// and call the version with both terminal commands.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { repository, run, startAtelier, type Atelier } from './kit/atelier';
import { launch, openSession, type Session } from './kit/browser';
import { startGate } from './kit/gate';
import { Studio } from './kit/studio';

interface Path {
  language: string;
  folder: string;
  title: string;
  agent: string;
  entry: string;
  /** The expected console lines, in order. */
  lines: string[];
  /** A text of the code and its replacement. The console then shows `changed`. */
  edit: [from: string, to: string];
  changed: string;
  output: Record<string, unknown>;
}

const paths: Path[] = [
  {
    language: 'TypeScript',
    folder: 'weather-ts',
    title: 'Weather',
    agent: 'weather',
    entry: 'main.ts',
    lines: ['Forecast for Oslo, 5 days', 'day 1', 'day 2', 'day 3', 'day 4', 'day 5'],
    edit: ['`Forecast for', '`Weather in'],
    changed: 'Weather in Oslo, 5 days',
    output: { city: 'Oslo', unit: '°C', warmest: 5, advice: 'Take an umbrella: rain on 2 of 5 days.' },
  },
  {
    language: 'JavaScript',
    folder: 'webhook-js',
    title: 'Webhook',
    agent: 'webhook',
    entry: 'main.js',
    lines: ['info ada pushed 3 commits to northwind/shop', '• Round prices to whole cents', '• Test the empty basket'],
    edit: ['pushed', 'sent'],
    changed: 'info ada sent 3 commits to northwind/shop',
    output: { channel: '#builds', severity: 'info', link: 'https://git.example.com/northwind/shop' },
  },
  {
    language: 'Python',
    folder: 'csv-python',
    title: 'CSV summary',
    agent: 'csv-summary',
    entry: 'main.py',
    lines: [
      'Read 4 rows and 3 columns',
      'product: text, 0 missing',
      'price: number, 0 missing',
      'stock: number, 1 missing',
    ],
    edit: ['"Read {', '"Found {'],
    changed: 'Found 4 rows and 3 columns',
    output: { rows: 4 },
  },
  {
    language: 'Bash',
    folder: 'logs-bash',
    title: 'Log filter',
    agent: 'logs',
    entry: 'main.sh',
    lines: ['09:02:17 WARN  slow query: 2140 ms', '09:02:19 ERROR connection lost: "db-1"'],
    edit: ["printf '\\e[%sm%b", "printf '\\e[%smkept %b"],
    changed: 'kept 09:02:17 WARN  slow query: 2140 ms',
    output: { level: 'WARN', kept: 2, dropped: 3 },
  },
];

describe('a newcomer', () => {
  let atelier: Atelier;
  let browser: Browser;
  let session: Session;
  let studio: Studio;

  beforeAll(async () => {
    [atelier, browser] = await Promise.all([startAtelier(), launch()]);
    session = await openSession(browser, atelier);
    studio = new Studio(session.page);
  });
  afterAll(async () => {
    await session.close();
    await browser.close();
    await atelier.stop();
  });

  test('A01 opens the printed link and finds samples', async () => {
    await session.page.goto(atelier.signInLink);
    await session.page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
    expect(new URL(session.page.url()).pathname).toBe('/studio/');
    await session.page.getByRole('heading', { name: 'Welcome to Atelier', level: 1 }).waitFor();
    const samples = session.page.getByRole('list', { name: 'Start with a sample' }).getByRole('button');
    await expect.poll(() => samples.count()).toBe(6);
  });

  describe.each(paths)('with $language', (path) => {
    const code = readFileSync(join(repository, 'samples', path.folder, path.entry), 'utf8');
    const input = readFileSync(join(repository, 'samples', path.folder, 'input.json'), 'utf8');

    test('A02 A20 opens the sample and runs it with Ctrl+Enter', async () => {
      await studio.home();
      await studio.openSample(path.title);
      await studio.start();
      await studio.ended(/^Succeeded ·/);
      await expect.poll(async () => inOrder(await studio.consoleLines(), path.lines)).toEqual(path.lines);
      expect(await studio.result()).toMatchObject(path.output);
    });

    test('changes the code and runs it again', async () => {
      const [from, to] = path.edit;
      await studio.replaceCode(code.replace(from, to));
      await studio.start();
      await studio.hasPrinted(path.changed);
      await studio.ended(/^Succeeded ·/);
      expect(await studio.result()).toMatchObject(path.output);
    });

    test('publishes 1.0.0', async () => {
      await studio.publish('1.0.0');
      const answer = await atelier.api('GET', `/api/v1/code-agents/${path.agent}/versions/1.0.0`);
      expect(answer.body).toMatchObject({
        version: '1.0.0',
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as unknown,
      });
    });

    test('exports it in the form of OpenAI', async () => {
      const shown = await studio.exported('OpenAI');
      const tool = JSON.parse(shown.manifest) as unknown;
      expect(tool).toMatchObject({ type: 'function', function: { parameters: { type: 'object' } } });
      const same = await atelier.api('POST', `/api/v1/code-agents/${path.agent}/export-tool`, {
        version: '1.0.0',
        format: 'openai',
      });
      expect(tool).toEqual(same.body);
    });

    test('runs the version in a terminal, and with the line of the dialog', async () => {
      const terminal = await atelier.cli('run', `${path.agent}@1.0.0`, '--input', input);
      expect(terminal.code, terminal.stderr).toBe(0);
      const output = JSON.parse(terminal.stdout) as unknown;
      expect(output).toMatchObject(path.output);

      const { curl } = await studio.exported('OpenAI');
      const called = await run('bash', ['-c', curl], { PATH: process.env['PATH'] ?? '', ATELIER_TOKEN: atelier.token });
      expect(called.code, called.stderr).toBe(0);
      expect(JSON.parse(called.stdout)).toMatchObject({ status: 'succeeded', output });
    });
  });

  test('A25 watches the lines arrive while the program runs', async () => {
    const gate = await startGate(atelier);
    onTestFinished(() => gate.close());
    const code = `def main(input, ctx):\n    for n in range(1, 6):\n        print("line", n)\n        if n == 2: ${gate.wait}\n`;
    const made = await atelier.api('POST', '/api/v1/code-agents', {
      name: 'slow',
      language: 'python',
      entrypoint: 'main.py',
      files: { 'main.py': code },
      capabilities: { hosts: [gate.host] },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    await studio.openAgent('slow');
    await studio.start();
    await studio.hasPrinted('line 2');
    expect(await studio.state.textContent()).toMatch(/^Running/);
    expect(inOrder(await studio.consoleLines(), ['line 3'])).toEqual([]);
    gate.open();
    await studio.ended(/^Succeeded ·/);
    const all = ['line 1', 'line 2', 'line 3', 'line 4', 'line 5'];
    await expect.poll(async () => inOrder(await studio.consoleLines(), all)).toEqual(all);
  });
});

/** Returns the wanted texts that occur in the lines, in order. */
function inOrder(lines: string[], wanted: string[]): string[] {
  let from = 0;
  return wanted.filter((text) => {
    const at = lines.findIndex((line, n) => n >= from && line.includes(text));
    if (at >= 0) from = at + 1;
    return at >= 0;
  });
}
