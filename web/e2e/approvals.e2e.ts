// Approvals: a publication and a run wait, and an approver decides in the Studio.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAtelier, type Atelier } from './kit/atelier';
import { violations } from './kit/axe';
import { launch, signIn } from './kit/browser';
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

interface Asked {
  approvalId: string;
  runId: string;
}

async function enforce(): Promise<void> {
  const gate = (await atelier.api('GET', '/api/v1/gate')).body as Record<string, unknown>;
  await atelier.api('PUT', '/api/v1/gate', { ...gate, gate: 'enforce' });
}

const local = "def main(input, ctx):\n    return {'ok': True}\n";
const remote =
  "from urllib import request\n\ndef main(input, ctx):\n    if input.get('call'):\n        request.urlopen('https://api.example.com/a')\n    return {'ok': True}\n";

/** Publishes a version without network, then requests with the command to publish one that reaches a new host. */
async function newHost(name: string): Promise<{ link: string; version: string }> {
  await enforce();
  await atelier.api('POST', '/api/v1/code-agents', { name, language: 'python', code: local });
  await atelier.api('POST', `/api/v1/code-agents/${name}/versions`, {});
  await atelier.api(
    'PUT',
    `/api/v1/code-agents/${name}`,
    {
      language: 'python',
      code: remote,
      capabilities: { hosts: ['api.example.com:443'] },
      safetyFlags: ['network_access'],
    },
    { 'if-match': '*' },
  );
  const asked = await atelier.cli('publish', name, '--server', atelier.url, '--token', atelier.token);
  expect(asked.code).toBe(3);
  expect(asked.stderr).toContain('newly reaches api.example.com:443 (main.py:5)');
  const link = /http\S+\/studio\/approvals\/[\w-]+/.exec(asked.stderr)?.[0] ?? '';
  expect(link).toContain(atelier.url);
  const { body } = await atelier.api('GET', `/api/v1/approvals/${link.split('/').at(-1) ?? ''}`);
  return { link, version: (body as { version: string }).version };
}

describe('approvals', () => {
  test('a new host waits in the inbox, and is published when it is approved', async () => {
    const { link, version } = await newHost('fetcher');
    expect(version).toBe('2.0.0');
    const session = await signIn(browser, atelier);
    const { page } = session;
    await page.goto('/studio/approvals');
    const row = page.getByRole('table', { name: 'Approvals' }).getByRole('row');
    await row.getByText('Newly reaches api.example.com:443 (main.py:5).').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByText('1 waiting').waitFor({ state: 'attached' });
    expect(await violations(page)).toEqual([]);
    await row.getByRole('link', { name: 'Publication of fetcher@2.0.0' }).click();
    await page.waitForURL(link);
    const changes = page.getByRole('region', { name: 'Changes', exact: true });
    await changes.getByText("+        request.urlopen('https://api.example.com/a')").waitFor();
    await page.getByRole('textbox', { name: 'Comment' }).fill('a known host');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Published fetcher@2.0.0.').waitFor();
    const run = await atelier.api('POST', '/api/v1/code-agents/fetcher/execute', { version: '2.0.0', input: {} });
    expect(run.body).toMatchObject({ success: true });
    await session.close();
  });

  test('a new host that is denied is not published, and the reason stays', async () => {
    const { link } = await newHost('denied-fetcher');
    const session = await signIn(browser, atelier);
    const { page } = session;
    await page.goto(link);
    await page.getByRole('textbox', { name: 'Comment' }).fill('use the proxy');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText(/Denied by .+: use the proxy/).waitFor();
    const versions = await atelier.api('GET', '/api/v1/code-agents/denied-fetcher/versions');
    expect(versions.body).toMatchObject({ items: [{ version: '1.0.0' }] });
    expect((versions.body as { items: unknown[] }).items).toHaveLength(1);
    const run = await atelier.api('POST', '/api/v1/code-agents/denied-fetcher/execute', { version: '^2', input: {} });
    expect(run.status).toBe(404);
    await session.close();
  });

  test('the request of a first version compares it with nothing', async () => {
    await enforce();
    await atelier.api('POST', '/api/v1/code-agents', {
      name: 'first',
      language: 'python',
      code: 'def main(input, ctx):\n    return eval("1")\n',
    });
    const { body } = await atelier.api('POST', '/api/v1/code-agents/first/versions', {});
    const session = await signIn(browser, atelier);
    const { page } = session;
    await page.goto(`/studio/approvals/${(body as Asked).approvalId}`);
    const settings = page.getByRole('region', { name: 'Settings', exact: true });
    await settings.getByRole('row', { name: 'language none python' }).waitFor();
    await settings.getByRole('columnheader', { name: 'before' }).waitFor();
    expect(await page.getByText('null').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Capabilities', exact: true }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await session.close();
  });

  test('a run that is denied says why', async () => {
    await atelier.api('POST', '/api/v1/code-agents', {
      name: 'asks',
      language: 'javascript',
      code: 'export default () => 1',
      requiresApproval: true,
    });
    await atelier.api('POST', '/api/v1/code-agents/asks/versions', {});
    const { body } = await atelier.api('POST', '/api/v1/code-agents/asks/execute', { version: '1.0.0', input: {} });
    const { approvalId, runId } = body as Asked;
    const session = await signIn(browser, atelier);
    const { page } = session;
    await page.goto(`/studio/approvals/${approvalId}`);
    await page.getByText('Each run of this version needs an approval.').waitFor();
    await page.getByRole('textbox', { name: 'Comment' }).fill('not today');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('denied by').waitFor();
    const run = await atelier.api('GET', `/api/v1/runs/${runId}`);
    expect(run.body).toMatchObject({
      status: 'blocked',
      error: { message: expect.stringContaining('not today') as string },
    });
    await session.close();
  });

  test('the publish dialog names the new host, and somebody who may approve does so there', async () => {
    await newHost('alone');
    const session = await signIn(browser, atelier);
    const { page } = session;
    await new Studio(page).openAgent('alone');
    await page.getByRole('button', { name: 'Gate: needs a decision' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/newly reaches api\.example\.com:443 \(main\.py:5\)/i).waitFor();
    await dialog.getByRole('button', { name: /^Publish 2\.0\.0/ }).click();
    const approve = dialog.getByRole('button', { name: 'Approve now' });
    await approve.waitFor();
    await dialog.getByText(/newly reaches api\.example\.com:443 \(main\.py:5\)/i).waitFor();
    expect(await violations(page)).toEqual([]);
    await approve.click();
    await page.getByText('Published alone@2.0.0.').waitFor();
    const versions = await atelier.api('GET', '/api/v1/code-agents/alone/versions');
    expect(versions.body).toMatchObject({ items: [{ version: '2.0.0' }, { version: '1.0.0' }] });
    await session.close();
  });

  test('findings are marks in the editor, with rule and remedy', async () => {
    await atelier.api('POST', '/api/v1/code-agents', {
      name: 'evals',
      language: 'python',
      code: 'def main(input, ctx):\n    return eval("1")\n',
    });
    const session = await signIn(browser, atelier);
    const { page } = session;
    await new Studio(page).openAgent('evals');
    await page.getByRole('main').locator('.squiggly-warning').waitFor();
    await page.getByRole('button', { name: /^Problems/ }).click();
    const list = page.getByRole('region', { name: 'Problems' });
    await list.getByRole('button', { name: /Runs a text as code: eval\. Parse data with json\.loads/ }).waitFor();
    await list.getByText('standard/py-eval').waitFor();
    await session.close();
  });

  test('a missing flag is added with one click, and a decision that came first is named', async () => {
    await enforce();
    await atelier.api('POST', '/api/v1/code-agents', {
      name: 'flagless',
      language: 'python',
      code: "from urllib import request\n\ndef main(input, ctx):\n    return request.urlopen('https://api.example.com/a').status\n",
      capabilities: { hosts: ['api.example.com:443'] },
    });
    const session = await signIn(browser, atelier);
    const { page } = session;
    const studio = new Studio(page);
    await studio.openAgent('flagless');
    await page.getByRole('button', { name: 'Gate: blocks' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A safety flag is missing: network_access.').waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add network_access' }).click();
    await dialog.getByText('Gate: needs a decision').waitFor();
    expect(await dialog.getByRole('button', { name: 'Add network_access' }).count()).toBe(0);
    const { body } = await atelier.api('GET', '/api/v1/code-agents/flagless');
    expect(body).toMatchObject({ draft: { safetyFlags: ['network_access'] } });
    await dialog.getByRole('button', { name: /^Publish 1\.0\.0/ }).click();
    await dialog.getByRole('button', { name: 'Open the request' }).click();
    await page.waitForURL('**/studio/approvals/*');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await atelier.api('POST', `/api/v1/approvals/${id}`, { decision: 'deny', comment: 'not this host' });
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/already denied by .+ at /).waitFor();
    await page.getByText(/Denied by .+: not this host/).waitFor();
    expect((await atelier.api('GET', '/api/v1/code-agents/flagless/versions')).body).toMatchObject({ items: [] });
    await session.close();
  });
});
