// Secrets on their page, quotas on the page of the usage, and the secret names that an agent declares.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
import { hold } from './kit/hold';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;

beforeAll(async () => {
  [atelier, browser] = await Promise.all([startAtelier(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
});

const value = 'correct-horse-battery';

describe('secrets', () => {
  for (const [theme, width] of [
    ['dark', 1280],
    ['light', 390],
  ] as const) {
    test(`a secret is set, replaced and removed, and never shown (${theme}, ${width})`, async () => {
      const session = await signIn(browser, atelier, { theme, width, height: 800 });
      const { page } = session;
      const name = `KEY_${theme}`;
      await page.goto('/studio/secrets');
      await page.getByText('cannot be read again').waitFor();
      await page.getByRole('button', { name: 'New secret…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Set' }).click();
      await dialog.getByText('Use up to 64 letters').waitFor();
      await dialog.getByText('Enter a value.').waitFor();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Value', { exact: true }).fill('short');
      await dialog.getByRole('button', { name: 'Set' }).click();
      await dialog.getByText('must have at least 8 bytes').waitFor();
      expect(await dialog.getByLabel('Value', { exact: true }).getAttribute('aria-invalid')).toBe('true');
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel('Value', { exact: true }).fill(value);
      await dialog.getByLabel('Send it to one host').check();
      await dialog.getByLabel('Host', { exact: true }).fill('api.example.com:443');
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Set' }).click();
      await dialog.waitFor({ state: 'detached' });
      const row = page.getByRole('table', { name: 'Secrets' }).getByRole('row').filter({ hasText: name });
      await row.getByText('Sent to api.example.com:443 as Authorization').waitFor();
      await row.getByText('never', { exact: true }).waitFor();
      expect(await violations(page)).toEqual([]);
      await row.getByRole('button', { name: `Replace ${name}` }).click();
      expect(await dialog.getByLabel('Value', { exact: true }).inputValue()).toBe('');
      await dialog.getByLabel('Send it to one host').uncheck();
      await dialog.getByLabel('Value', { exact: true }).fill(value);
      await dialog.getByRole('button', { name: 'Replace' }).click();
      await dialog.waitFor({ state: 'detached' });
      await row.getByText('Sent to').waitFor({ state: 'detached' });
      await page.reload();
      await row.getByText('All agents').waitFor();
      expect(await page.content()).not.toContain(value);
      await row.getByRole('button', { name: `Remove ${name}` }).click();
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await row.waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate(() => document.activeElement === document.body)).toBe(false);
      await session.close();
    });
  }

  test('one that is set late does not close the dialog for the next', async () => {
    const session = await signIn(browser, atelier);
    const { page } = session;
    await page.goto('/studio/secrets');
    const dialog = page.getByRole('dialog');
    const begin = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'New secret…' }).click();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Value', { exact: true }).fill(value);
    };
    const release = await hold(page, '**/api/v1/secrets/**', 'PUT');
    await begin('LATE');
    const sent = page.waitForRequest((request) => request.method() === 'PUT');
    await dialog.getByRole('button', { name: 'Set' }).click();
    await sent;
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await begin('NEXT');
    release();
    await page.getByRole('region', { name: 'Notices' }).getByText('LATE').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('NEXT');
    await session.close();
    await must(atelier, 'DELETE', '/secrets/LATE');
  });

  test('A36 an agent says which of its secrets are set, and a run masks them', async () => {
    await must(atelier, 'POST', '/code-agents', {
      name: 'speaker',
      language: 'javascript',
      code: 'export default (input, ctx) => { console.log(ctx.env.API_KEY); return { said: `it is ${ctx.env.API_KEY}` }; };\n',
    });
    const session = await signIn(browser, atelier);
    const { page } = session;
    const answers: Promise<string>[] = [];
    const frames: string[] = [];
    page.on('response', (response) => {
      const stream = response.headers()['content-type']?.startsWith('text/event-stream') === true; // the body of a stream does not end
      if (response.url().includes('/api/v1/') && !stream) answers.push(response.text().catch(() => ''));
    });
    page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => void frames.push(String(payload)));
    });
    const studio = new Studio(page);
    await studio.openAgent('speaker');
    const section = page.getByRole('button', { name: /^Secrets/ });
    if ((await section.getAttribute('aria-expanded')) === 'false') await section.click();
    await page.getByRole('textbox', { name: 'Names, one per line' }).fill('API_KEY');
    const declared = page.getByRole('list', { name: 'Declared secrets' });
    await declared.getByText('not set').waitFor();
    await studio.saved();
    expect(await violations(page)).toEqual([]);
    await declared.getByRole('button', { name: 'Set API_KEY' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Only for this agent').inputValue()).toBe('speaker');
    await dialog.getByLabel('Value', { exact: true }).fill(value);
    await dialog.getByRole('button', { name: 'Set' }).click();
    await declared.getByText('set for this agent').waitFor();
    await studio.start();
    await studio.ended(/^Succeeded ·/);
    expect(await studio.result()).toEqual({ said: 'it is ***' });
    expect(await page.content()).not.toContain(value);
    const heard = [...(await Promise.all(answers)), ...frames].join('\n');
    expect(heard).toContain('it is ***');
    expect(heard).not.toContain(value);
    await session.close();
  });

  for (const [theme, width] of [
    ['dark', 1280],
    ['light', 390],
  ] as const) {
    test(`a run that lacks a secret leads to where it is set, and then starts (${theme}, ${width})`, async () => {
      const name = `lacking-${theme}`;
      await must(atelier, 'POST', '/code-agents', {
        name,
        language: 'javascript',
        secrets: ['WEATHER_KEY'],
        code: 'export default (input, ctx) => ctx.env.WEATHER_KEY.length;\n',
      });
      const session = await signIn(browser, atelier, { theme, width, height: 800 });
      const { page } = session;
      const studio = new Studio(page);
      await studio.openAgent(name);
      await studio.start();
      await studio.ended(/^Not started$/);
      const result = page.getByRole('tabpanel', { name: 'Result' });
      await result.getByText('it declares WEATHER_KEY, which has no value in this workspace').waitFor();
      expect(await violations(page)).toEqual([]);
      await result.getByRole('button', { name: 'Set WEATHER_KEY…' }).click();
      const dialog = page.getByRole('dialog', { name: 'New secret' });
      expect(await dialog.getByLabel('Name').inputValue()).toBe('WEATHER_KEY');
      const focused = page.locator('*:focus');
      expect(await focused.getAttribute('id')).toBe(
        await dialog.getByLabel('Value', { exact: true }).getAttribute('id'),
      );
      await focused.fill(value);
      await dialog.getByRole('button', { name: 'Set' }).click();
      await result.getByText('Its secrets have values now.').waitFor();
      await dialog.waitFor({ state: 'detached' });
      // The button that opened the dialog is gone. Its replacement has the focus.
      await expect.poll(() => focused.innerText()).toMatch(/^Run/);
      await page.keyboard.press('Enter');
      await studio.ended(/^Succeeded ·/);
      await session.close();
    });
  }

  test('a secret of several lines reaches the program as it was pasted, and is covered while it is typed', async () => {
    const key = `-----BEGIN KEY-----\n${'A1b2C3d4'.repeat(8)}\n-----END KEY-----\n`;
    await must(atelier, 'POST', '/code-agents', {
      name: 'signer',
      language: 'javascript',
      secrets: ['PEM'],
      code: "export default (input, ctx) => { const k = ctx.env.PEM; return [k.split('\\n').length, k.length, k.endsWith('END KEY-----\\n')]; };\n",
    });
    const session = await signIn(browser, atelier, { theme: 'light', width: 390, height: 800 });
    const { page } = session;
    await page.goto('/studio/secrets');
    await page.getByRole('button', { name: 'New secret…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('PEM');
    const field = dialog.getByLabel('Value', { exact: true });
    await page.evaluate((text) => navigator.clipboard.writeText(text), key);
    await field.focus();
    await page.keyboard.press('Control+V');
    const covered = (): Promise<string> =>
      field.evaluate((e) => getComputedStyle(e).getPropertyValue('-webkit-text-security'));
    expect(await covered()).toBe('disc');
    await dialog.getByLabel('Show the value').check();
    expect(await covered()).toBe('none');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Set' }).click();
    await dialog.waitFor({ state: 'detached' });
    const run = (await must(atelier, 'POST', '/code-agents/signer/execute', { version: 'draft', input: {} })) as {
      output: unknown;
    };
    expect(run.output).toEqual([4, key.length, true]);
    await session.close();
  });

  test('a bar says how much of a quota is used', async () => {
    const answer = (await must(atelier, 'PUT', '/quotas/default', { runsPerDay: 2 })) as { limits: unknown };
    expect(answer.limits).toMatchObject({ runsPerDay: 2 });
    const session = await signIn(browser, atelier, { theme: 'light', width: 390, height: 800 });
    await session.page.goto('/studio/usage');
    const meter = session.page.getByRole('meter', { name: 'Executions today' });
    await meter.waitFor();
    expect(await meter.getAttribute('aria-valuemax')).toBe('2');
    await session.page.getByText('The use of the month counts only runs.').waitFor();
    expect(await violations(session.page)).toEqual([]);
    await session.close();
    await must(atelier, 'PUT', '/quotas/default', {});
  });
});
