// Photographs every screen for review: both themes at 1440 and 390 pixels. The folder is ATELIER_PHOTOGRAPHS.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { launch, openSession, signIn, type Session } from './kit/browser';
import { fill, type Filled } from './kit/filled';
import { Studio } from './kit/studio';

const folder = process.env['ATELIER_PHOTOGRAPHS'] ?? '/tmp/atelier-photographs';
let atelier: Atelier;
let browser: Browser;
let filled: Filled;

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

const at = (path: string) => async (page: Page) => {
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
};

/** Opens a pane. On a narrow screen the workbench shows one pane at a time. */
async function pane(page: Page, name: 'Code' | 'Run' | 'Configuration'): Promise<void> {
  const button = page.getByRole('navigation', { name: 'Panes' }).getByRole('button', { name });
  if (await button.isVisible()) await button.click();
}

const panel = (tab: string) => async (page: Page, studio: Studio) => {
  await studio.openAgent('slugger');
  await pane(page, 'Run');
  await page.getByRole('tablist', { name: 'Run' }).getByRole('tab', { name: tab }).click();
};

const screens: Record<string, (page: Page, studio: Studio) => Promise<unknown>> = {
  home: at('/studio/'),
  runs: at('/studio/runs'),
  run: (page) => at(`/studio/runs/${filled.run}`)(page),
  'run-failed': (page) => at(`/studio/runs/${filled.failedRun}`)(page),
  agent: async (page, studio) => {
    await studio.openAgent('slugger');
    await page.locator('.view-line [class^="mtk"]:not(.mtk1)').first().waitFor(); // the code has its colours
  },
  'agent-input': panel('Input'),
  'agent-input-json': async (page, studio) => {
    await panel('Input')(page, studio);
    await page.getByRole('tabpanel', { name: 'Input' }).getByRole('radio', { name: 'JSON' }).click();
  },
  'agent-history': panel('History'),
  'agent-tests': panel('Tests'),
  'agent-result': async (page, studio) => {
    await panel('Input')(page, studio);
    await page.getByRole('textbox', { name: 'city' }).fill('Oslo');
    await page.keyboard.press('ControlOrMeta+Enter');
    await studio.ended(/^Succeeded ·/);
    await studio.panel('Result');
  },
  'agent-configuration': async (page, studio) => {
    await studio.openAgent('slugger');
    await pane(page, 'Configuration');
  },
  publish: async (page, studio) => {
    await studio.openAgent('slugger');
    await studio.editor.focus();
    await page.keyboard.press('ControlOrMeta+Shift+S');
    await page.getByRole('dialog').waitFor();
  },
  'new-agent': async (page) => {
    await page.goto('/studio/');
    await page.getByRole('main').getByRole('button', { name: 'New agent' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'published-version': (_, studio) => studio.openAgent('slugger@1.0.2'),
  'settings-about': at('/studio/settings/about'),
  versions: (_, studio) => studio.versions('slugger'),
  registry: at('/studio/registry'),
  listed: async (page) => {
    await at('/studio/registry/default/slugger')(page);
    await page.locator('.view-line').first().waitFor();
  },
  skills: at('/studio/skills'),
  'tool-sets': at('/studio/tool-sets'),
  'tool-set': at('/studio/tool-sets/daily'),
  people: at('/studio/people'),
  invitation: (page) => at(filled.invitation)(page),
  tokens: at('/studio/tokens'),
  packages: at('/studio/packages'),
  secrets: at('/studio/secrets'),
  usage: at('/studio/usage'),
  workspaces: at('/studio/workspaces'),
  server: at('/studio/server'),
  'server-limits': async (page) => {
    await at('/studio/server')(page);
    await page.getByRole('heading', { name: 'Limits of a run' }).scrollIntoViewIfNeeded();
    await page.getByRole('heading', { name: 'Sandbox' }).evaluate((heading) => heading.scrollIntoView());
  },
  'usage-quotas': async (page) => {
    await at('/studio/usage')(page);
    await page.getByRole('list', { name: 'Quotas' }).waitFor();
    await page.getByRole('heading', { name: 'Quotas' }).evaluate((heading) => heading.scrollIntoView());
  },
  'new-token': async (page) => {
    await at('/studio/tokens')(page);
    await page.getByRole('button', { name: 'New token…' }).click();
    await page.getByRole('dialog').waitFor();
  },
  connect: async (_, studio) => {
    await studio.openAgent('slugger');
    await studio.choose('More about slugger', 'Connect a client');
  },
  'draft-history': async (page, studio) => {
    await studio.openAgent('slugger');
    await studio.choose('More about slugger', 'History of the draft');
    await page.getByRole('table', { name: 'Saved drafts of slugger' }).waitFor();
  },
  'saved-draft': async (page, studio) => {
    await studio.openAgent('slugger');
    await studio.choose('More about slugger', 'History of the draft');
    await page.getByRole('button', { name: 'Show revision 2' }).click();
    await page.getByRole('region', { name: 'Changes of main.js' }).waitFor();
  },
  account: at('/studio/account'),
  settings: at('/studio/settings/appearance'),
  keys: at('/studio/settings/keys'),
  'settings-editor': at('/studio/settings/editor'),
  approvals: at('/studio/approvals'),
  approval: (page) => at(filled.approval)(page),
  blocked: at('/studio/blocked'),
  rules: at('/studio/rules'),
  projects: at('/studio/projects'),
  project: at('/studio/projects/shop'),
  overlay: (page) => at(filled.overlay)(page),
  tasks: at('/studio/tasks'),
  task: (page) => at(filled.task)(page),
  'not-found': at('/studio/nowhere'),
  'no-agent': (page) => page.goto('/studio/a/nope'),
  docs: (page) => page.goto('/docs'),
  'docs-open': async (page) => {
    await page.goto('/docs#createAgent');
    await page.locator('#createAgent[open]').waitFor();
  },
  error: async (page) => {
    await page.route(/SkillsPage-.*\.js/, (route) => route.abort());
    await at('/studio/skills')(page);
  },
};

const wanted = process.env['ATELIER_SCREENS']?.split(',');
const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

async function photograph(session: Session, name: string, width: number): Promise<void> {
  if (wanted && !wanted.includes(name)) return;
  for (const theme of ['dark', 'light'] as const) {
    await session.page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await session.page.evaluate(() => document.fonts.ready.then(() => undefined));
    await session.page.waitForTimeout(800); // otherwise the picture could show a placeholder
    await session.page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`) });
  }
}

test('photographs', async () => {
  for (const { width, height } of sizes) {
    const signedOut = await openSession(browser, atelier, { width, height });
    await signedOut.page.goto('/studio/');
    await signedOut.page.getByRole('heading', { level: 1 }).waitFor();
    await photograph(signedOut, 'sign-in', width);
    await signedOut.close();
  }
  for (const { width, height } of sizes) {
    const newcomer = await signIn(browser, atelier, { width, height });
    await newcomer.page.goto('/studio/');
    await newcomer.page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
    await photograph(newcomer, 'home-newcomer', width);
    for (const name of ['runs', 'tokens', 'secrets', 'usage']) {
      if (wanted && !wanted.includes(`${name}-empty`)) continue;
      await at(`/studio/${name}`)(newcomer.page);
      await photograph(newcomer, `${name}-empty`, width);
    }
    await newcomer.close();
  }
  filled = await fill(atelier);
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
