// The gate: rules are turned off and tried, packs are written, and blocked requests are submitted again.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, openSession, signIn, type Session } from './kit/browser';
import { must } from './kit/seed';
import { Studio } from './kit/studio';

let atelier: Atelier;
let browser: Browser;
let session: Session;
let page: Page;
let studio: Studio;
let policy: Server;
/** Whether the policy service allows runs of the agent "denied". */
let allows = false;

beforeAll(async () => {
  policy = createServer((request, answer) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { input } = JSON.parse(text) as { input: { resource: string } };
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify({ result: allows || input.resource !== 'denied' }));
    });
  });
  await new Promise<void>((done) => policy.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${String((policy.address() as AddressInfo).port)}`;
  [atelier, browser] = await Promise.all([startAtelier('--policy-url', url), launch()]);
});
afterAll(async () => {
  await browser.close();
  await atelier.stop();
  policy.closeAllConnections();
  await new Promise<void>((done) => policy.close(() => done()));
});
beforeEach(async () => {
  session = await signIn(browser, atelier);
  page = session.page;
  studio = new Studio(page);
});
afterEach(() => session.close());

const verdict = () => page.getByRole('region', { name: 'Gate', exact: true });

describe('the rules', () => {
  test('a rule is turned off, tried all the same, and found by its remedy', async () => {
    await page.goto('/studio/rules');
    await verdict().getByText('Runs a text as code: eval.').waitFor();
    expect(await violations(page)).toEqual([]);
    await studio.fillCode('Code', 'def main(text):\n    return eval(text)\n');
    await verdict().getByText('main.py:2').waitFor();
    await page.getByRole('textbox', { name: 'Find rules' }).fill('ast.literal_eval');
    const rules = page.getByRole('list', { name: 'Rules of standard' });
    expect(await rules.getByRole('listitem').count()).toBe(1);
    await rules.getByRole('checkbox', { name: 'standard/py-eval' }).click();
    await page.getByText('standard/py-eval is off.').waitFor();
    await verdict().getByText('Gate: no findings').waitFor();
    expect((await must(atelier, 'GET', '/gate')) as object).toMatchObject({ disabledRules: ['standard/py-eval'] });
    await rules.getByRole('button', { name: 'Try standard/py-eval' }).click();
    await verdict().getByText('Runs a text as code: eval.').waitFor();
    await rules.getByRole('checkbox', { name: 'standard/py-eval' }).click();
    await page.getByText('standard/py-eval is on.').waitFor();
  });

  test('the mode and the thresholds are saved together', async () => {
    await page.goto('/studio/rules');
    const save = page.getByRole('button', { name: 'Save settings' });
    await page.getByRole('radio', { name: 'Enforce' }).click();
    await page.getByText('waits for an approver').first().waitFor();
    await page.getByText('stops publishing and stops runs').waitFor();
    await page.getByRole('textbox', { name: 'A request expires after' }).fill('0');
    await page.getByText('must be a number from 1 to 8760').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'A request expires after' }).fill('8');
    await page.getByLabel('Block from severity').selectOption('high');
    await save.click();
    await page.getByText('The settings of the gate are saved.').waitFor();
    const stored = await must(atelier, 'GET', '/gate');
    expect(stored).toMatchObject({ gate: 'enforce', blockAt: 'high', approvalHours: 8, packs: ['standard'] });
    await must(atelier, 'PUT', '/gate', { ...(stored as object), gate: 'advise', blockAt: 'critical' });
  });

  test('a pack with an error names its line, and a valid one applies once it is on', async () => {
    await page.goto('/studio/rules');
    await page.getByRole('button', { name: 'New rule pack' }).click();
    const dialog = page.getByRole('dialog', { name: 'New rule pack' });
    await dialog.getByText('Prints: print.').waitFor();
    const valid = await studio.codeIn('Rule pack (YAML)');
    await studio.fillCode('Rule pack (YAML)', valid.replace('medium', 'dreadful'));
    await dialog.getByText('Line 7', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Go to line 7' }).click();
    expect(await studio.copied()).toBe('    severity: dreadful');
    await expect.poll(() => dialog.locator('.squiggly-error').count()).toBe(1);
    const refused = page.waitForResponse((r) => r.request().method() === 'PUT' && r.status() === 422);
    await dialog.getByRole('button', { name: 'Save pack' }).click();
    await refused;
    await studio.fillCode('Rule pack (YAML)', valid);
    await dialog.getByRole('button', { name: 'Save pack' }).click();
    const pack = page.getByRole('region', { name: 'team-rules', exact: true });
    await pack.getByRole('checkbox', { name: 'Applies to every program' }).click();
    await page.getByText('team-rules is on.').waitFor();
    expect(await pack.getByRole('button', { name: 'Delete team-rules' }).isDisabled()).toBe(true);
    await studio.fillCode('Code', 'def main():\n    print(1)\n');
    await verdict().getByText('Prints: print.').waitFor();
    await pack.getByRole('checkbox', { name: 'Applies to every program' }).click();
    await page.getByText('team-rules is off.').waitFor();
    await pack.getByRole('button', { name: 'Delete team-rules' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted team-rules.').waitFor();
    expect(await pack.count()).toBe(0);
  });

  test('a person who may only read sees why nothing can be changed', async () => {
    const { secret: token } = (await must(atelier, 'POST', '/tokens', { name: 'reader', scopes: ['read'] })) as {
      secret: string;
    };
    const reader = await openSession(browser, atelier);
    await reader.context.request.post('/api/v1/session', { data: { token } });
    await reader.page.goto('/studio/rules');
    await reader.page.getByText('You can read the rules and try them, and cannot change them.').waitFor();
    await reader.page.getByText('Runs a text as code: eval.').waitFor();
    const boxes = reader.page.getByRole('list', { name: 'Rules of standard' }).getByRole('checkbox');
    expect(await boxes.first().isDisabled()).toBe(true);
    for (const name of ['Save settings', 'New rule pack'])
      expect(await reader.page.getByRole('button', { name }).count()).toBe(0);
    expect(await violations(reader.page)).toEqual([]);
    await reader.close();
  });
});

describe('blocked requests', () => {
  test('a request is still denied, then submitted again with its result, and another is dropped', async () => {
    await page.goto('/studio/blocked');
    await page.getByText('No request is blocked.').waitFor();
    expect(await violations(page)).toEqual([]);
    await must(atelier, 'POST', '/code-agents', {
      name: 'denied',
      language: 'javascript',
      code: 'export default ({ n }) => n + 1;\n',
    });
    await must(atelier, 'POST', '/code-agents/denied/versions', { version: '1.0.0' });
    for (const n of [1, 41])
      await must(atelier, 'POST', '/code-agents/denied/execute', { version: '1.0.0', input: { n } });
    const rows = page.getByRole('list', { name: 'Blocked requests' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2); // without a reload
    const newest = rows.first();
    await newest.getByText('The policy service denies this run.').waitFor();
    await newest.getByText('Policy version').waitFor();
    const again = newest.getByRole('button', { name: 'Submit again' });
    await again.click();
    await newest.getByText('The request is still blocked').waitFor();
    allows = true;
    await again.click();
    await newest.getByText('Succeeded').waitFor();
    await newest.getByText('submitted again by Administrator').waitFor();
    expect(await violations(page)).toEqual([]);
    await rows.last().getByRole('button', { name: 'Drop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
    await rows.last().getByText('dropped by Administrator').waitFor();
    await newest.getByRole('link', { name: 'Open the run' }).click();
    await page.getByRole('heading', { name: 'Run of denied', level: 1 }).waitFor();
    await page.getByText('42').first().waitFor();
  });
});
