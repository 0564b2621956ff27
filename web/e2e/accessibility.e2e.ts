// Axe finds no violation of WCAG 2.2 AA or of its best practice on the screens below, in either theme.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, openSession, signIn } from './kit/browser';
import { must, program, publishedAgent, saveDraft } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  const session = await signIn(browser, atelier);
  const studio = new Studio(session.page);
  await studio.home();
  await studio.openSample('Long job');
  await studio.publish('1.0.0');
  await session.close();

  await publishedAgent(atelier, 'old');
  await saveDraft(atelier, 'old', program('Fog'));
  await must(atelier, 'POST', '/code-agents/old/versions', { bump: 'auto', changelog: 'Fog.' });
  await must(atelier, 'PATCH', '/code-agents/old/versions/1.0.0', { deprecated: true, reason: 'It says sun.' });
  await must(atelier, 'PUT', '/pins', {
    owner: 'flow/1',
    label: 'Morning report',
    references: ['old@1.0.0', 'old@^1'],
  });
  await must(atelier, 'POST', '/code-agents/old/execute', { version: '1.0.1', input: { city: 'Oslo' } });
  await must(atelier, 'POST', '/code-agents/old/publish', { public: true });
  await must(atelier, 'PUT', '/tool-sets/daily', { title: 'Daily report', references: ['old@1.0.1'] });
  await must(atelier, 'PUT', '/secrets/API_KEY', { value: 'a value that is not shown' });
  await must(atelier, 'POST', '/tokens', { name: 'laptop', scopes: ['read', 'run'] });
  await saveDraft(atelier, 'old', {
    ...program('Rain'),
    tags: ['demo'],
    limits: { timeoutMs: 5000 },
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city', 'days'] },
  });
  await must(atelier, 'POST', '/code-agents', {
    name: 'rows',
    language: 'javascript',
    entrypoint: 'main.js',
    files: { 'main.js': 'export default () => [{ a: 1, b: "x" }];\n' },
  });
  await publishedAgent(atelier, 'gone');
  await must(atelier, 'DELETE', '/code-agents/gone?comment=Replaced');
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

const screens: Record<string, (page: Page, studio: Studio) => Promise<void>> = {
  'the samples': async (_, studio) => studio.home(),
  'an agent': async (_, studio) => studio.openAgent('progress'),
  'an agent after a run': async (_, studio) => {
    await studio.openAgent('progress');
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    await studio.panel('Result');
  },
  'the console': async (_, studio) => {
    await studio.openAgent('progress');
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    await studio.panel('Console');
  },
  'the publish dialog': async (page, studio) => {
    await studio.openAgent('progress');
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'the export dialog': async (page, studio) => {
    await studio.openAgent('progress');
    await page.getByRole('button', { name: 'Export as tool' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'the list of agents': async (page) => {
    await page.goto('/studio/?q=old&code=true&tag=demo');
    await page.getByRole('list', { name: 'Agents found' }).waitFor();
  },
  'deleted agents': async (page) => {
    await page.goto('/studio/?state=deleted');
    await page.getByRole('list', { name: 'Deleted agents' }).waitFor();
  },
  'a deleted agent': async (page) => {
    await page.goto('/studio/a/gone');
    await page.getByRole('button', { name: 'Restore it' }).waitFor();
  },
  'the registry': async (page) => {
    await page.goto('/studio/registry');
    await page.getByRole('table', { name: 'Listed agents' }).waitFor();
  },
  'the registry, narrowed to nothing': async (page) => {
    await page.goto('/studio/registry?tag=none&lang=python');
    await page.getByRole('button', { name: 'Show all' }).waitFor();
  },
  'an agent of the registry': async (page) => {
    await page.goto('/studio/registry/default/old?v=1.0.0');
    await page.getByRole('note').waitFor();
    await page.getByRole('textbox', { name: /read only/ }).waitFor({ state: 'attached' });
  },
  'an agent that is not in the registry': async (page) => {
    await page.goto('/studio/registry/default/nothing');
    await page.getByText('There is no agent').waitFor();
  },
  'the versions of an agent': async (page, studio) => {
    await studio.versions('old');
    await page.getByRole('list', { name: 'Used by' }).waitFor();
  },
  'a deprecated version': async (page, studio) => {
    await studio.openAgent('old@1.0.0');
    await page.getByRole('note', { name: 'Deprecated' }).waitFor();
  },
  comparing: async (page, studio) => {
    await studio.versions('old');
    await studio.choose('Actions for 1.0.1', 'Compare with the draft');
    await page.getByRole('region', { name: 'Changes of main.js' }).waitFor();
  },
  deprecating: async (page, studio) => {
    await studio.versions('old');
    await studio.choose('Actions for 1.0.1', 'Deprecate…');
    await page.getByRole('region', { name: 'Affected programs' }).waitFor();
  },
  deleting: async (page, studio) => {
    await studio.versions('old');
    await studio.choose('Actions for old', 'Delete…', 'main');
    await page.getByRole('textbox', { name: /^Reason for the deletion/ }).waitFor();
  },
  renaming: async (page, studio) => {
    await studio.versions('old');
    await studio.choose('Actions for old', 'Rename…', 'main');
    await page.getByRole('dialog').waitFor();
  },
  'a new draft from a version': async (page, studio) => {
    await studio.versions('old');
    await studio.choose('Actions for 1.0.0', 'New draft from this version');
    await page.getByRole('dialog').waitFor();
  },
  'publishing against advice, with a replay': async (page, studio) => {
    await studio.versions('old');
    await page.getByRole('button', { name: 'Publish the draft…' }).click();
    await page.getByRole('region', { name: 'Advice' }).waitFor();
    await page.getByRole('radio', { name: /^1\.0\.2/ }).check();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('list', { name: 'Differences' }).waitFor();
  },
  'importing an archive': async (page) => {
    await page.goto('/studio/');
    await page.getByRole('button', { name: 'Import…', exact: true }).click();
    await page.getByRole('dialog').waitFor();
  },
  'the report of an archive': async (page) => {
    const archive = await fetch(`${atelier.url}/api/v1/archive`, {
      headers: { authorization: `Bearer ${atelier.token}` },
    });
    const buffer = Buffer.from(await archive.arrayBuffer());
    await page.goto('/studio/');
    await page.getByRole('button', { name: 'Import…', exact: true }).click();
    const file = { name: 'agents.tar.gz', mimeType: 'application/gzip', buffer };
    await page.getByLabel('Choose an archive').setInputFiles(file);
    await page.getByRole('list', { name: 'Agents in the archive' }).waitFor();
  },
  'the history': async (page, studio) => {
    await studio.openAgent('old');
    await (await studio.panel('History')).getByRole('row').nth(1).waitFor();
    await page.getByRole('img', { name: /^1 run, 0 failed/ }).waitFor();
  },
  'a table of the output': async (page, studio) => {
    await studio.openAgent('rows');
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    await studio.panel('Result');
    await page.getByRole('radio', { name: 'Table' }).click();
    await page.getByRole('table', { name: '$' }).waitFor();
  },
  'a schema as a table': async (page) => {
    await page.goto('/studio/a/old?schema=input');
    await page
      .getByRole('status', { name: 'Breaking changes' })
      .getByText(/^Major/)
      .waitFor();
  },
  'searching in files': async (page, studio) => {
    await studio.openAgent('old');
    await page.keyboard.press('ControlOrMeta+Shift+F');
    await page.getByRole('searchbox', { name: 'Search in files' }).fill('input');
    await page.getByText('1 line in 1 file').waitFor();
  },
  'a tool that was tried': async (page, studio) => {
    await studio.openAgent('old');
    await page.getByRole('button', { name: 'Export as tool' }).click();
    await page.getByText('Try it as a tool').click();
    await page.getByRole('textbox', { name: /^Arguments/ }).fill('{"city": "Oslo"}');
    await page.getByRole('button', { name: /^Call old@/ }).click();
    await page.getByRole('region', { name: 'Output of the tool' }).waitFor();
  },
  'the runs': async (page) => {
    await page.goto('/studio/runs');
    await page.getByRole('region', { name: 'Runs' }).getByRole('row').nth(1).waitFor();
  },
  'a run': async (page, studio) => {
    await page.goto('/studio/runs');
    await page
      .getByRole('region', { name: 'Runs' })
      .getByRole('link', { name: /^Open the run/ })
      .first()
      .click();
    await studio.ended(/^Succeeded ·/);
  },
  'the server': async (page) => {
    await page.goto('/studio/server');
    await page.getByRole('row', { name: /^python/ }).waitFor();
    await page.getByRole('heading', { name: 'Limits of a run' }).waitFor();
  },
  'the settings': async (page) => {
    await page.goto('/studio/settings/appearance');
    await page.getByRole('radio', { name: 'System' }).waitFor();
  },
  'the keys of the settings': async (page) => {
    await page.goto('/studio/settings/keys');
    await page.getByRole('button', { name: 'Change the keys of Save now' }).click();
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByRole('alert').waitFor();
  },
  'the editor of the settings': async (page) => {
    await page.goto('/studio/settings/editor');
    await page.getByRole('spinbutton', { name: 'Font size' }).waitFor();
  },
  'the command palette': async (page, studio) => {
    await studio.openAgent('progress');
    await page.keyboard.press('ControlOrMeta+K');
    await page.getByRole('combobox', { name: 'Command palette' }).waitFor();
  },
};

/** Pages that can be opened by their address. */
const pages = {
  'the runs of an agent that has none': '/studio/runs?agent=rows',
  'the tasks': '/studio/tasks',
  'the projects': '/studio/projects',
  'the approvals': '/studio/approvals',
  'the blocked requests': '/studio/blocked',
  'the rules': '/studio/rules',
  'the usage': '/studio/usage',
  'the secrets': '/studio/secrets',
  'the people': '/studio/people',
  'the account': '/studio/account',
  'the tokens': '/studio/tokens',
  'the workspaces': '/studio/workspaces',
  'the skills': '/studio/skills',
  'the facts about the Studio': '/studio/settings/about',
  'the page of the API': '/docs',
  'the tool sets': '/studio/tool-sets',
  'a tool set': '/studio/tool-sets/daily',
  'a page that does not exist': '/studio/nowhere',
  'an agent that does not exist': '/studio/a/nope',
  'a run that does not exist': `/studio/runs/${crypto.randomUUID()}`,
};
for (const [name, path] of Object.entries(pages)) {
  screens[name] = async (page) => {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForFunction(() => document.querySelector('[data-waiting]') === null);
  };
}

type Theme = 'dark' | 'light';

/** Checks a screen in its current theme, then switches to the other theme without a reload and checks again. */
async function judge(page: Page, opened: Theme): Promise<void> {
  for (const theme of [opened, opened === 'dark' ? 'light' : 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.locator(`:root[data-theme='${theme}']`).waitFor();
    expect(await violations(page), theme).toEqual([]);
  }
}

describe('A47 in both themes', () => {
  // Half of the screens are opened in each theme.
  const all = Object.entries(screens).map(([name, open], i) => [name, i % 2 === 0 ? 'dark' : 'light', open] as const);

  test.each(all)('%s, opened in %s', async (_, opened, open) => {
    const session = await signIn(browser, atelier, { theme: opened });
    try {
      await open(session.page, new Studio(session.page));
      await judge(session.page, opened);
    } finally {
      await session.close();
    }
  });

  test.each(['Agent list', 'Code', 'Run', 'Configuration'])('a phone with the pane %s', async (pane) => {
    const session = await signIn(browser, atelier, { theme: 'light', width: 390, height: 844 });
    try {
      await new Studio(session.page).openAgent('old');
      await session.page.getByRole('navigation', { name: 'Panes' }).getByRole('button', { name: pane }).click();
      await session.page.getByRole('main').waitFor();
      await judge(session.page, 'light');
    } finally {
      await session.close();
    }
  });

  test('the sign-in page', async () => {
    const session = await openSession(browser, atelier, { theme: 'light' });
    try {
      await session.page.goto('/studio/');
      await session.page.getByRole('heading', { name: 'Sign in to Atelier' }).waitFor();
      await judge(session.page, 'light');
    } finally {
      await session.close();
    }
  });
});

describe('forced colours', () => {
  const shown = (page: Page, selector: string): Promise<string> =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).backgroundColor);

  test('mark the open tab, the chosen view and the open place', async () => {
    const session = await signIn(browser, atelier, { width: 1440, height: 900 });
    const { page } = session;
    try {
      await page.emulateMedia({ forcedColors: 'active' });
      await new Studio(page).openAgent('old');
      for (const role of ['tab', 'radio']) {
        const state = role === 'radio' ? 'aria-checked' : 'aria-selected';
        const [on, off] = await Promise.all(
          ['true', 'false'].map((value) => shown(page, `[role=${role}][${state}=${value}]`)),
        );
        expect(on, role).not.toBe(off);
      }
      await page.goto('/studio/runs');
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await shown(page, 'nav a[aria-current=page]')).not.toBe(await shown(page, 'nav a:not([aria-current])'));
    } finally {
      await session.close();
    }
  });
});
