// Photographs every screen for review: both themes at 1440 and 390 pixels. The folder is ATELIER_PHOTOGRAPHS.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { launch, openSession, signIn, type Session } from './kit/browser';
import { must, program, publishedAgent, saveDraft } from './kit/seed';
import { Studio } from './kit/studio';

const folder = process.env['ATELIER_PHOTOGRAPHS'] ?? '/tmp/atelier-photographs';
let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

/** Agents, versions, runs, tokens and secrets, so that no list is empty. */
async function fillServer(): Promise<void> {
  await publishedAgent(atelier, 'slugger');
  for (const [word, message] of [
    ['Fog', 'Says fog.'],
    ['Rain', 'Says rain.'],
  ] as const) {
    await saveDraft(atelier, 'slugger', {
      ...program(word),
      title: 'City weather',
      description: 'The weather of a city.',
    });
    await must(atelier, 'POST', '/code-agents/slugger/versions', { bump: 'auto', changelog: message });
  }
  await must(atelier, 'PATCH', '/code-agents/slugger/versions/1.0.0', { deprecated: true, reason: 'It says sun.' });
  await must(atelier, 'PUT', '/tool-sets/daily', { title: 'Daily report', references: ['slugger@1.0.0'] });
  await must(atelier, 'PUT', '/pins', { owner: 'flow/1', label: 'Morning report', references: ['slugger@1.0.0'] });
  for (const city of ['Oslo', 'Bergen', 'Tromsø']) {
    for (const version of ['1.0.0', '1.0.1', 'draft'])
      await must(atelier, 'POST', '/code-agents/slugger/execute', { version, input: { city } });
  }
  await must(atelier, 'POST', '/code-agents/slugger/publish', { public: true });
  await saveDraft(atelier, 'slugger', program('Snow'));
  await must(atelier, 'POST', '/code-agents', {
    name: 'orders-report',
    title: 'Orders report',
    description: 'Totals of the orders of a day.',
    language: 'python',
    entrypoint: 'main.py',
    tags: ['finance'],
    files: { 'main.py': 'def main(input, ctx):\n    raise ValueError("no orders for " + input["day"])\n' },
    inputSchema: { type: 'object', properties: { day: { type: 'string', format: 'date' } }, required: ['day'] },
  });
  await must(atelier, 'POST', '/code-agents/orders-report/execute', { version: 'draft', input: { day: '2026-11-24' } });
  await must(atelier, 'PUT', '/secrets/API_KEY', { value: 'a value that is not shown' });
  await must(atelier, 'POST', '/tokens', { name: 'laptop', scopes: ['read', 'run'] });
  await must(atelier, 'POST', '/tokens', { name: 'ci', scopes: ['read'] });
}

const at = (path: string) => async (page: Page) => {
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
};

const screens: Record<string, (page: Page, studio: Studio) => Promise<unknown>> = {
  home: at('/studio/'),
  runs: at('/studio/runs'),
  run: async (page) => {
    await page.goto('/studio/runs');
    await page
      .getByRole('link', { name: /^Open the run/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Run of' }).waitFor();
  },
  'run-failed': async (page) => {
    await page.goto('/studio/runs?agent=orders-report');
    await page
      .getByRole('link', { name: /^Open the run/ })
      .first()
      .click();
    await page.getByText('no orders for').first().waitFor();
  },
  agent: (_, studio) => studio.openAgent('slugger'),
  'agent-input-json': async (page, studio) => {
    await studio.openAgent('slugger');
    await page.getByRole('tablist', { name: 'Run' }).getByRole('tab', { name: 'Input' }).click();
    await page.getByRole('radio', { name: 'JSON' }).first().click();
  },
  'agent-result': async (page, studio) => {
    await studio.openAgent('slugger');
    await page.getByRole('tablist', { name: 'Run' }).getByRole('tab', { name: 'History' }).click();
  },
  publish: async (page, studio) => {
    await studio.openAgent('slugger');
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'new-agent': async (page) => {
    await page.goto('/studio/');
    await page.getByRole('button', { name: 'New agent' }).last().click();
    await page.getByRole('dialog').waitFor();
  },
  versions: (_, studio) => studio.versions('slugger'),
  registry: at('/studio/registry'),
  listed: at('/studio/registry/default/slugger'),
  skills: at('/studio/skills'),
  'tool-sets': at('/studio/tool-sets'),
  'tool-set': at('/studio/tool-sets/daily'),
  people: at('/studio/people'),
  tokens: at('/studio/tokens'),
  packages: at('/studio/packages'),
  secrets: at('/studio/secrets'),
  workspaces: at('/studio/workspaces'),
  server: at('/studio/server'),
  account: at('/studio/account'),
  settings: at('/studio/settings/appearance'),
  keys: at('/studio/settings/keys'),
  'settings-editor': at('/studio/settings/editor'),
  approvals: at('/studio/approvals'),
  projects: at('/studio/projects'),
  'not-found': at('/studio/nowhere'),
  'no-agent': (page) => page.goto('/studio/a/nope'),
  docs: (page) => page.goto('/docs'),
};

const wanted = process.env['ATELIER_SCREENS']?.split(',');
const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

async function photograph(session: Session, name: string, width: number): Promise<void> {
  for (const theme of ['dark', 'light'] as const) {
    await session.page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await session.page.evaluate(() => document.fonts.ready.then(() => undefined));
    await session.page.waitForTimeout(800); // a picture may show a placeholder, so it is taken late
    await session.page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`) });
  }
}

test('photographs', async () => {
  for (const { width, height } of sizes) {
    const signedOut = await openSession(browser, atelier, { width, height });
    await signedOut.page.goto('/studio/');
    await photograph(signedOut, 'sign-in', width);
    await signedOut.close();
  }
  for (const { width, height } of sizes) {
    const newcomer = await signIn(browser, atelier, { width, height });
    await newcomer.page.goto('/studio/');
    await newcomer.page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
    await photograph(newcomer, 'home-newcomer', width);
    await newcomer.close();
  }
  await fillServer();
  for (const [name, open] of Object.entries(screens)) {
    if (wanted && !wanted.includes(name)) continue;
    for (const { width, height } of sizes) {
      const session = await signIn(browser, atelier, { width, height });
      await Promise.resolve(open(session.page, new Studio(session.page))).catch((fault: unknown) =>
        console.error(name, width, fault instanceof Error ? fault.message.slice(0, 300) : fault),
      );
      await photograph(session, name, width);
      await session.context.close();
    }
  }
}, 1_200_000);
