// The main screens, in both themes, have no violation of WCAG 2.2 AA that a machine can find.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, openSession, signIn } from './kit/browser';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
  const session = await signIn(browser, atelier);
  const studio = new Studio(session.page);
  await studio.home();
  await studio.openSample('Long job (Python)');
  await studio.publish('1.0.0');
  await session.close();
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
    await studio.ended(/^Succeeded in/);
    await studio.panel('Result');
  },
  'the console': async (_, studio) => {
    await studio.openAgent('progress');
    await studio.start();
    await studio.ended(/^Succeeded in/);
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
  'the command palette': async (page, studio) => {
    await studio.openAgent('progress');
    await page.keyboard.press('ControlOrMeta+K');
    await page.getByRole('combobox', { name: 'Command palette' }).waitFor();
  },
};

describe.each(['dark', 'light'] as const)('in the %s theme', (theme) => {
  test.each(Object.entries(screens))('%s', async (_, open) => {
    const session = await signIn(browser, atelier, { theme });
    try {
      await open(session.page, new Studio(session.page));
      expect(await violations(session.page)).toEqual([]);
    } finally {
      await session.close();
    }
  });

  test('the sign-in page', async () => {
    const session = await openSession(browser, atelier, { theme });
    try {
      await session.page.goto('/studio/');
      await session.page.getByRole('heading', { name: 'Sign in to Atelier' }).waitFor();
      expect(await violations(session.page)).toEqual([]);
    } finally {
      await session.close();
    }
  });
});
