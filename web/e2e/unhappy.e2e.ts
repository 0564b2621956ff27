// Failures along the way and the Studio's reaction.
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openSession, signIn } from './kit/browser';
import { eachSignedIn, type Stage } from './kit/stage';
import { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let browser: Stage['browser'];
let session: Stage['session'];
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, browser, session, studio } = stage);
});

/** Creates an agent by the API with a unique name. */
async function agentWith(name: string, language: string, entrypoint: string, code: string): Promise<void> {
  const answer = await atelier.api('POST', '/api/v1/code-agents', {
    name,
    language,
    entrypoint,
    files: { [entrypoint]: code },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
}

/** Returns the error of an invalid field as a screen reader announces it. */
async function messageOf(field: Locator): Promise<string> {
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
  const ids = (await field.getAttribute('aria-describedby')) ?? '';
  return field.page().evaluate(
    (list) => list.map((id) => document.getElementById(id)?.textContent ?? '').join(' '),
    ids.split(' ').filter((id) => id !== ''),
  );
}

describe('a program that fails', () => {
  test('shows a card that leads to the line, for a syntax error', async () => {
    await agentWith('broken', 'python', 'main.py', 'import json\n\n\ndef main(input, ctx):\n    return {"a": 1\n');
    await studio.openAgent('broken');
    await studio.start();
    await studio.ended(/^Syntax error/);
    await studio.panel('Result');
    await session.page.getByRole('button', { name: /main\.py:\d+/ }).click();
    await expect.poll(() => session.page.getByText(/^Ln 5, Col/).count()).toBe(1);
  });

  test('shows where an exception was raised', async () => {
    await agentWith(
      'raises',
      'javascript',
      'main.js',
      'export default function main() {\n  const list = null;\n  return list.length;\n}\n',
    );
    await studio.openAgent('raises');
    await studio.start();
    await studio.ended(/^Failed ·/);
    await studio.panel('Result');
    await session.page.getByRole('button', { name: /main\.js:3/ }).click();
    await expect.poll(() => session.page.getByText(/^Ln 3, Col/).count()).toBe(1);
  });

  test.each([
    ['javascript', 'main.js', 'export default function main() {\n  console.log("in");\n  for (;;);\n}\n'],
    ['python', 'main.py', 'def main(input, ctx):\n    print("in")\n    while True:\n        pass\n'],
    ['bash', 'main.sh', 'echo in\nwhile :; do :; done\n'],
  ])('A31 is stopped in an endless loop, in %s', async (language, entry, code) => {
    await agentWith(`endless-${language}`, language, entry, code);
    await studio.openAgent(`endless-${language}`);
    await studio.start();
    await studio.hasPrinted('in');
    await session.page.getByRole('button', { name: 'Stop' }).click();
    await studio.ended(/^Cancelled ·/);
    await session.page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  });

  test('A28 prints markup as text', async () => {
    await agentWith(
      'markup',
      'python',
      'main.py',
      'def main(input, ctx):\n    print("<img src=x onerror=alert(1)>")\n',
    );
    await studio.openAgent('markup');
    await studio.start();
    await studio.hasPrinted('<img src=x onerror=alert(1)>');
    expect(await session.page.getByRole('list').getByRole('img', { name: 'x' }).count()).toBe(0);
  });
});

describe('an input that does not fit', () => {
  test('A23 makes no run and shows what is wrong at its field', async () => {
    await studio.home();
    await studio.openSample('Weather');
    const input = await studio.panel('Input');
    const days = input.getByRole('textbox', { name: 'Days' });
    await days.fill('99');
    await studio.start();
    expect(await messageOf(days)).toContain('7');
    await expect.poll(() => days.evaluate((field) => field === document.activeElement)).toBe(true);
    const runs = await atelier.api('GET', '/api/v1/runs?agent=weather');
    expect(runs.body).toMatchObject({ items: [] });
  });
});

describe('without a network', () => {
  test('nothing is begun that needs one, the reason is said, and all is back when it is', async () => {
    await agentWith('cut-off', 'javascript', 'main.js', 'export default () => 1;\n');
    await studio.openAgent('cut-off');
    const { page, context } = session;
    const run = page.getByRole('banner').getByRole('button', { name: 'Run', exact: true });
    const publish = page.getByRole('button', { name: 'Publish…' });
    await publish.click();
    const send = page.getByRole('dialog').getByRole('button', { name: 'Publish 1.0.0' });
    await context.setOffline(true);
    await page.getByRole('dialog').getByText('No network.').waitFor();
    expect(await send.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    for (const button of [run, publish]) {
      expect(await button.isDisabled()).toBe(true);
      expect(await button.getAttribute('title')).toContain('No network.');
    }
    await page.getByRole('button', { name: 'More about cut-off' }).click();
    const item = page.getByRole('menuitem', { name: /^Publish….*No network\./ });
    expect(await item.getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.type('publish'); // the button has the focus, so a screen reader announces the reason
    await expect.poll(() => item.evaluate((e) => e === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    expect(await page.getByRole('menu').count()).toBe(1);
    await page.keyboard.press('Escape');
    const result = await studio.panel('Result');
    expect(await result.getByRole('button', { name: 'Run' }).isDisabled()).toBe(true);
    await context.setOffline(false);
    await expect.poll(() => run.isEnabled()).toBe(true);
    await expect.poll(() => publish.isEnabled()).toBe(true);
    await studio.start();
    await studio.ended(/^Succeeded ·/);
  });

  test('the agents say that they could not be loaded, and come when asked again', async () => {
    await agentWith('kept-away', 'javascript', 'main.js', 'export default () => 1;\n');
    const { page, context } = session;
    await page.goto('/studio/settings/about');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.route('**/api/v1/code-agents?*', (route) => route.abort());
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Atelier, all agents' }).click();
    const failed = page.getByRole('main').getByRole('alert').filter({ hasText: 'Could not load the agents.' });
    await failed.waitFor();
    const again = page.waitForRequest('**/api/v1/code-agents?*');
    await context.setOffline(false);
    await again;
    await failed.waitFor();
    await page.unrouteAll();
    await failed.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('main').getByRole('link', { name: 'kept-away' }).waitFor();
    await failed.waitFor({ state: 'detached' });
  });

  test.each([
    { at: 'people', part: 'members', what: 'people', shown: /^you$/ },
    { at: 'people', part: 'invitations', what: 'invitations', shown: /^No open invitations\./ },
    { at: 'tokens', part: 'tokens', what: 'tokens', shown: /^Created$/ },
    { at: 'account', part: 'me/sessions', what: 'sessions', shown: /^This browser/ },
    { at: 'secrets', part: 'secrets', what: 'secrets', shown: /^No secrets yet\./ },
    { at: 'usage', part: 'quotas', what: 'quotas', shown: /^Resets / },
    { at: 'workspaces', part: 'workspaces', what: 'workspaces', shown: /^You are here$/ },
  ])(
    'what the page of $at could not load of $part comes when it is asked again, and the keys go on there',
    async (one) => {
      const { page } = session;
      await page.route(`**/api/v1/${one.part}`, (route) => route.fulfill({ status: 403, json: { title: 'Not now.' } }));
      await page.goto(`/studio/${one.at}`);
      const main = page.getByRole('main');
      const failed = main.getByRole('alert').filter({ hasText: `The ${one.what} could not be loaded.` });
      await failed.waitFor();
      await page.unrouteAll();
      await failed.getByRole('button', { name: 'Retry' }).click();
      const shown = main.getByText(one.shown);
      await shown.waitFor();
      expect(await failed.count()).toBe(0);
      expect(await shown.evaluate((text) => text.closest('section') === document.activeElement)).toBe(true);
    },
  );

  test('a failed first load shows its message until the retry', async () => {
    const { page } = session;
    await page.clock.install();
    await page.route('**/api/v1/runtimes', (route) => route.abort());
    await page.goto('/studio/server');
    await page.getByRole('main').getByText('The engines could not be loaded.').waitFor();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/api/v1/runtimes')) asked++;
    });
    await page.clock.runFor(10_000);
    expect(asked).toBe(0);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('region', { name: 'Engines' }).getByRole('cell').first().waitFor();
  });

  test('an agent that could not be opened comes when there is one again', async () => {
    await agentWith('comes-back', 'javascript', 'main.js', 'export default () => 1;\n');
    await agentWith('seen-before', 'javascript', 'main.js', 'export default () => 1;\n');
    await studio.openAgent('seen-before'); // so that the code of the page is loaded
    const { page, context } = session;
    const link = page.getByRole('navigation', { name: 'Agents and files' }).getByRole('link', { name: 'comes-back' });
    await link.waitFor();
    await context.setOffline(true);
    await link.click();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await context.setOffline(false);
    await studio.editorReady();
  });
});

describe('a draft in two tabs', () => {
  test('A19 asks which one to keep, and loses nothing in silence', async () => {
    await agentWith('shared', 'python', 'main.py', 'def main(input, ctx):\n    return 1\n');
    await session.page.route('**/code-agents/*/events', (route) => route.abort()); // the page is not notified of the save
    await studio.openAgent('shared');
    const other = await signIn(browser, atelier);
    try {
      const theirs = new Studio(other.page);
      await theirs.openAgent('shared');
      await theirs.replaceCode('def main(input, ctx):\n    return "theirs"\n');
      await studio.replace('def main(input, ctx):\n    return "mine"\n');
      const dialog = session.page.getByRole('dialog', { name: 'This draft was changed elsewhere' });
      await dialog.waitFor();
      await dialog.getByRole('button', { name: 'Keep mine' }).click();
      await studio.saved();
      const agent = await atelier.api('GET', '/api/v1/code-agents/shared');
      expect(agent.body).toMatchObject({
        draft: { files: { 'main.py': expect.stringContaining('"mine"') as unknown } },
      });
    } finally {
      await other.close();
    }
  });
});

describe('without a session', () => {
  test('a wrong token is refused with a sentence, the right one lets in', async () => {
    const stranger = await openSession(browser, atelier);
    try {
      const { page } = stranger;
      await page.goto('/studio/');
      const token = page.getByRole('textbox', { name: 'Token' });
      await token.fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(await messageOf(token)).toMatch(/token/i);
      await token.fill(atelier.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page
        .getByRole('heading', { name: /agents|sample/ })
        .first()
        .waitFor();
    } finally {
      await stranger.close();
    }
  });

  test('a sign-in link works once', async () => {
    const first = await openSession(browser, atelier);
    await first.page.goto(atelier.signInLink);
    await first.page
      .getByRole('heading', { name: /agents|sample/ })
      .first()
      .waitFor();
    await first.close();
    const second = await openSession(browser, atelier);
    const answer = await second.page.goto(atelier.signInLink);
    expect(answer?.status()).toBe(401);
    await second.close();
  });
});
