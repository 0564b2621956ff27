// Provenance: the recorded digests are checked against the server's data, also outside a secure context.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { run, startAtelier } from './kit/atelier';
import { launch, openSession } from './kit/browser';
import { must, saveDraft } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
eachSignedIn((stage) => {
  ({ atelier, page } = stage);
});

const code = 'def main(input, ctx):\n    return {"twice": input.get("n", 0) * 2, "half": 0.5, "sign": "é€😀\\u2028"}\n';

async function published(name: string): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'python',
    entrypoint: 'main.py',
    files: { 'main.py': code, 'data.bin': { base64: '/wA=' } },
  });
  await must(atelier, 'POST', `/code-agents/${name}/versions`, { version: '1.0.0' });
}

async function ran(name: string, version: string, input: string): Promise<string> {
  const answer = await fetch(`${atelier.url}/api/v1/code-agents/${name}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${atelier.token}`, 'content-type': 'application/json' },
    body: `{"version":"${version}","input":${input}}`,
  });
  return ((await answer.json()) as { runId: string }).runId;
}

const verdict = () => page.getByRole('status', { name: 'Verification' });
const mark = (name: string) => page.getByRole('img', { name, exact: true });

async function verify(runId: string): Promise<void> {
  await page.goto(`/studio/runs/${runId}`);
  await page.getByRole('button', { name: 'Verify' }).click();
}

/** Changes the server's data directly in the database. */
async function tamper(sql: string): Promise<void> {
  const script =
    'import sqlite3,sys\nwith sqlite3.connect(sys.argv[1], timeout=20) as db: db.executescript(sys.argv[2])';
  const ended = await run('python3', ['-c', script, join(atelier.data, 'atelier.db'), sql], {
    PATH: process.env['PATH'] ?? '',
  });
  if (ended.code !== 0) throw new Error(ended.stderr);
}

test('a run is verified: code, version, input and output, with the digits that a double cannot hold', async () => {
  await published('proven');
  await verify(await ran('proven', '1.0.0', '{"z":1.50,"n":9007199254740993,"a":[1e2,-0.0],"text":"<ü>"}'));
  await verdict().getByText('Verified: everything matches the record.').waitFor();
  expect(await mark('Matches').count()).toBe(4);
});

test('data changed outside the server is reported', async () => {
  await published('forged');
  const id = await ran('forged', '1.0.0', '{"n":2}');
  await tamper(`UPDATE runs SET output = '{"twice":5}' WHERE id = '${id}'`);
  await verify(id);
  await verdict().getByText('Does not match the record.').waitFor();
  await verdict()
    .getByText(/^Output: The server’s data has the digest sha256:/)
    .waitFor();
  expect([await mark('Matches').count(), await mark('Does not match').count()]).toEqual([3, 1]);
  // A version without secrets has nothing to redact.
  await tamper(`UPDATE runs SET output = '{"twice":"***"}' WHERE id = '${id}'`);
  await verify(id);
  await verdict().getByText('Does not match the record.').waitFor();
});

test('a version whose settings were changed behind the server is named, also with the digest it had', async () => {
  await published('bent');
  const id = await ran('bent', '1.0.0', '{"n":2}');
  // The digest contains the name at the time of publication.
  await must(atelier, 'PATCH', '/code-agents/bent', { name: 'straight' });
  await verify(id);
  await verdict().getByText('Verified: everything matches the record.').waitFor();
  // The database refuses to update a version, but not to replace its row.
  await tamper(`
    CREATE TEMP TABLE forged AS SELECT * FROM versions WHERE agent_name = 'bent';
    UPDATE forged SET description = 'Safe to call.';
    INSERT OR REPLACE INTO versions SELECT * FROM forged;`);
  // The server caches unchanged data for two more seconds.
  await expect
    .poll(async () => {
      await verify(id);
      await verdict()
        .getByText(/^(Verified|Does not match)/)
        .first()
        .waitFor();
      return verdict().textContent();
    })
    .toContain('Does not match the record.');
  await verdict()
    .getByText(/^Digest: The server’s data has the digest sha256:/)
    .waitFor();
  expect([await mark('Matches').count(), await mark('Does not match').count()]).toEqual([3, 1]);
});

test('a draft that changed since, and code that is not kept, are no forgery', async () => {
  await published('moving');
  const id = await ran('moving', 'draft', '{}');
  await verify(id);
  await verdict().getByText('Verified: everything matches the record.').waitFor();
  await saveDraft(atelier, 'moving', { language: 'python', entrypoint: 'main.py', files: { 'main.py': `${code}#\n` } });
  await verify(id);
  await verdict().getByText('All checkable parts match.').waitFor();
  await verdict().getByText('Code: The draft has changed since.').waitFor();
  const inline = (await must(atelier, 'POST', '/execute', { language: 'python', code, input: {} })) as {
    runId: string;
  };
  await verify(inline.runId);
  await verdict().getByText('Code: The code of an inline run is not stored.').waitFor();
});

test('A33 what ran can be copied and verified on plain HTTP by a name of the network', async () => {
  const named = await startAtelier('--host', 'studio.test');
  const browser = await launch('--host-resolver-rules=MAP studio.test 127.0.0.1');
  try {
    const url = named.url.replace('127.0.0.1', 'studio.test');
    const session = await openSession(browser, { ...named, url });
    const there = new Studio(session.page);
    await session.page.goto('/studio/');
    expect(await session.page.evaluate(() => [isSecureContext, 'subtle' in crypto, 'clipboard' in navigator])).toEqual([
      false,
      false,
      false,
    ]);
    await session.page.getByLabel('Token').fill(named.token);
    await session.page.getByRole('button', { name: 'Sign in' }).click();
    await there.openSample('CSV summary');
    await there.start();
    await there.ended(/^Succeeded ·/);
    const result = await there.panel('Result');
    for (const fact of ['Queue', 'Start', 'Run', 'Peak memory', 'Runtime'])
      await result.getByText(fact, { exact: true }).first().waitFor();
    await result.getByRole('button', { name: 'Verify' }).click();
    await result.getByText('Verified: everything matches the record.').waitFor();
    await result.getByRole('button', { name: 'Copy code' }).click();
    await result.getByText('Copied').waitFor();
    // This page cannot read the clipboard, so the test pastes its content.
    const search = session.page.getByRole('searchbox', { name: /agents/i });
    await search.focus();
    await session.page.keyboard.press('ControlOrMeta+V');
    const runs = (await named.api('GET', '/api/v1/runs')).body as { items: { runId: string }[] };
    const kept = (await named.api('GET', `/api/v1/runs/${runs.items[0]?.runId ?? ''}`)).body as {
      provenance: { codeDigest: string };
    };
    expect(await search.inputValue()).toBe(kept.provenance.codeDigest);
    await session.close();
  } finally {
    await browser.close();
    await named.stop();
  }
});
