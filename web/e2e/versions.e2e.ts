// The lifecycle of versions: compare, publish against advice, replay, deprecate, delete, rename, list, copy, export
// and import. Elements are found by role and name, and results are read back from the API.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { signIn } from './kit/browser';
import { hold } from './kit/hold';
import { askAgain, refuse } from './kit/refuse';
import { must, program, publishedAgent, saveDraft } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import { Studio } from './kit/studio';
import { countChanges, typeAtOnce } from './kit/typing';

let atelier: Stage['atelier'];
let browser: Stage['browser'];
let page: Stage['page'];
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, browser, page, studio } = stage);
});

const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });

describe('comparing', () => {
  test('tells in sentences what separates a version from the draft, and any two versions', async () => {
    await publishedAgent(atelier, 'compared');
    await saveDraft(atelier, 'compared', {
      ...program('Fog'),
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city', 'days'],
      },
    });
    await studio.versions('compared');
    await page.getByText('A major change since 1.0.0: 2.0.0 comes next.').waitFor();
    await page.getByRole('button', { name: 'Compare…' }).click();
    const compare = dialog('Compare compared');
    await compare.getByText('A major change: the next version is 2.0.0.').waitFor();
    const reasons = compare.getByRole('list', { name: 'Summary of changes' });
    await expect.poll(() => reasons.innerText()).toContain('days is new and required in the input');
    const lines = compare.getByRole('region', { name: 'Changes of main.js' });
    await expect.poll(() => lines.innerText()).toMatch(/^-.*Sun[^]*^\+.*Fog/m);

    await compare.getByRole('combobox', { name: 'To' }).selectOption('1.0.0');
    await compare.getByText('No differences.').waitFor();
    expect(await compare.getByText(/differences?\.?$/).count()).toBe(1); // announced once
  });
});

test('the editor follows from one version to another and back', async () => {
  await publishedAgent(atelier, 'turned');
  await saveDraft(atelier, 'turned', program('Fog'));
  await must(atelier, 'POST', '/code-agents/turned/versions', { bump: 'auto', changelog: 'Says fog.' });
  await studio.openAgent('turned@1.0.0');
  const code = page.locator('.monaco-editor .view-lines');
  await code.filter({ hasText: 'Sun in' }).waitFor();
  for (const [version, word] of [
    ['1.0.1', 'Fog'],
    ['1.0.0', 'Sun'],
    ['1.0.1', 'Fog'],
  ] as const) {
    await page.getByRole('link', { name: version, exact: true }).click();
    await code.filter({ hasText: `${word} in` }).waitFor();
  }
  await page.goBack();
  await code.filter({ hasText: 'Sun in' }).waitFor();
  await page.getByRole('button', { name: 'Open the draft' }).click();
  await code.filter({ hasText: 'Fog in' }).waitFor();
});

describe('publishing', () => {
  test('a version below the advice needs a reason, which is stored with it', async () => {
    await publishedAgent(atelier, 'forced');
    await saveDraft(atelier, 'forced', { inputSchema: { type: 'object', required: ['city', 'days'] } });
    await studio.openAgent('forced');
    await page.getByRole('button', { name: 'Publish…' }).click();
    const publish = dialog('Publish forced');
    await publish.getByRole('region', { name: 'Advice' }).getByText('2.0.0').waitFor();
    expect(await publish.getByRole('radio', { name: /2\.0\.0.*advised/ }).isChecked()).toBe(true);
    const changelog = await publish.getByRole('textbox', { name: 'Changelog' }).inputValue();
    expect(changelog).toMatch(/^- .*days/);

    await publish.getByRole('radio', { name: /1\.0\.1/ }).check();
    const go = publish.getByRole('button', { name: 'Publish 1.0.1 anyway' });
    await publish.getByText('Give a reason for a lower number than advised.').waitFor();
    expect(await go.isDisabled()).toBe(true);
    await publish.getByRole('textbox', { name: 'Reason for a lower number than advised' }).fill('Nobody calls it yet.');
    await go.click();
    await dialog('Published 1.0.1').getByRole('button', { name: 'Done' }).click();
    const version = await must(atelier, 'GET', '/code-agents/forced/versions/1.0.1');
    expect(version).toMatchObject({
      changelog,
      override: { comment: 'Nobody calls it yet.', advice: { version: '2.0.0' } },
    });
  });

  test('replays recorded inputs, and depends on them if asked to', async () => {
    await publishedAgent(atelier, 'replayed');
    for (const city of ['Oslo', 'Rome'])
      await must(atelier, 'POST', '/code-agents/replayed/execute', { version: '1.0.0', input: { city } });
    await saveDraft(atelier, 'replayed', program('Fog'));
    await studio.openAgent('replayed');
    await page.getByRole('button', { name: 'Publish…' }).click();
    const publish = dialog('Publish replayed');
    const replay = publish.getByRole('region', { name: 'Replay' });
    await replay.getByRole('button', { name: 'Replay', exact: true }).click();
    await replay.getByText('2 of 2 recorded inputs differ.').waitFor();
    const differs = replay.getByRole('list', { name: 'Differences' }).getByRole('listitem');
    expect(await differs.first().innerText()).toMatch(/Another output[^]*Sun in Rome[^]*Fog in Rome/);
    const advice = publish.getByRole('region', { name: 'Advice' });
    await advice.getByRole('status').getByText('Advised: 1.1.0, a minor version').waitFor(); // announced on change
    await advice.getByText('2 of 2 recorded inputs give another output').waitFor();
    expect(await publish.getByRole('radio', { name: /1\.1\.0.*advised/ }).isChecked()).toBe(true);

    await replay.getByRole('checkbox', { name: 'Publish only if every output stays the same' }).check();
    await publish.getByRole('button', { name: 'Publish 1.1.0' }).click();
    await publish.getByRole('alert').getByText('nothing was published').waitFor();
    expect(await must(atelier, 'GET', '/code-agents/replayed')).toMatchObject({ latestVersion: '1.0.0' });

    await replay.getByRole('checkbox', { name: 'Publish only if every output stays the same' }).uncheck();
    await publish.getByRole('button', { name: 'Publish 1.1.0' }).click();
    await dialog('Published 1.1.0').waitFor();
  });

  test('warns of a missing description, which can be written in the dialog', async () => {
    await publishedAgent(atelier, 'undescribed');
    await saveDraft(atelier, 'undescribed', program('Fog'));
    await studio.openAgent('undescribed');
    await page.getByRole('button', { name: 'Publish…' }).click();
    const publish = dialog('Publish undescribed');
    const check = publish.getByRole('region', { name: 'Description for models' });
    await check.getByText(/^The description is missing\./).waitFor();
    const field = check.getByRole('textbox', { name: 'Description' });
    await field.fill('Weather.');
    await check.getByText(/^The description is short/).waitFor();
    await field.fill('Returns the weather of a city in one sentence.');
    await check.getByText('The description is good for models.').waitFor();
    await publish.getByRole('button', { name: 'Publish 1.0.1' }).click();
    await dialog('Published 1.0.1').waitFor();
    expect(await must(atelier, 'GET', '/code-agents/undescribed/versions/1.0.1')).toMatchObject({
      description: 'Returns the weather of a city in one sentence.',
    });
  });

  test('says what the editor marks first, and leads there', async () => {
    await publishedAgent(atelier, 'marked');
    await saveDraft(atelier, 'marked', {
      files: { 'main.js': 'export default (input) => {\n  return input +;\n};\n' },
    });
    await studio.openAgent('marked');
    await page.getByTitle(/^[1-9]\d* errors?$/).waitFor();
    await page.getByRole('button', { name: 'Publish…' }).click();
    const marked = dialog('Publish marked').getByRole('region', { name: 'Errors in the editor' });
    await marked.getByText(/The editor marks 1 error/).waitFor();
    await marked.getByRole('button', { name: 'main.js:2' }).click();
    await dialog('Publish marked').waitFor({ state: 'detached' });
    await page.getByText(/^Ln 2, Col/).waitFor();
    await expect.poll(() => studio.editor.evaluate((box) => box === document.activeElement)).toBe(true);
  });

  test('lists many reasons whole when asked, in the one page that scrolls', async () => {
    await publishedAgent(atelier, 'many');
    const properties: Record<string, object> = { city: { type: 'string' } };
    for (let n = 0; n < 12; n++) properties[`field${String(n)}`] = { type: 'string' };
    await saveDraft(atelier, 'many', { inputSchema: { type: 'object', properties } });
    await studio.openAgent('many');
    await page.getByRole('button', { name: 'Publish…' }).click();
    const advice = dialog('Publish many').getByRole('region', { name: 'Advice' });
    await expect.poll(() => advice.getByRole('listitem').count()).toBe(6);
    await advice.getByRole('button', { name: 'Show all 13' }).click();
    await expect.poll(() => advice.getByRole('listitem').count()).toBe(13);
    // The focus and the back button are unchanged.
    const fewer = advice.getByRole('button', { name: 'Show fewer' });
    expect(await fewer.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await advice.evaluate((box) => box.scrollHeight - box.clientHeight)).toBe(0);
  });

  test('says that a draft without changes is not published', async () => {
    await publishedAgent(atelier, 'unchanged');
    await studio.openAgent('unchanged');
    await page.getByRole('button', { name: 'Publish…' }).click();
    const publish = dialog('Publish unchanged');
    await publish.getByText('No changes since 1.0.0').waitFor();
    await publish.getByRole('button', { name: 'Publish 1.0.1' }).click();
    await publish.getByRole('alert').getByText('The draft has no changes since unchanged@1.0.0').waitFor();
  });

  test('restores the focus after cancel and after completion', async () => {
    await publishedAgent(atelier, 'given-up');
    await saveDraft(atelier, 'given-up', program('Fog'));
    await studio.openAgent('given-up');
    const open = page.getByRole('button', { name: 'Publish…' });
    await open.click();
    await dialog('Publish given-up').getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => open.evaluate((button) => button === document.activeElement)).toBe(true);

    await open.click(); // the second dialog returns the focus to the opener of the first
    await dialog('Publish given-up')
      .getByRole('radio', { name: /1\.0\.1/ })
      .check();
    await dialog('Publish given-up').getByRole('button', { name: 'Publish 1.0.1' }).click();
    await dialog('Published 1.0.1').getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => open.evaluate((button) => button === document.activeElement)).toBe(true);
  });
});

describe('references of an agent', () => {
  beforeEach(async () => {
    const there = await atelier.api('GET', '/api/v1/code-agents/pinned');
    if (there.status === 200) return;
    await publishedAgent(atelier, 'pinned');
    await saveDraft(atelier, 'pinned', program('Fog'));
    await must(atelier, 'POST', '/code-agents/pinned/versions', { bump: 'auto' });
    await must(atelier, 'PUT', '/pins', { owner: 'flow/1', label: 'Morning report', references: ['pinned@1.0.0'] });
  });

  test('a deprecation lists the affected programs with the reason and the successor', async () => {
    await studio.versions('pinned');
    await page.getByRole('list', { name: 'Used by' }).getByText('Morning report').waitFor();
    await studio.choose('Actions for 1.0.0', 'Deprecate…');
    await page.getByRole('textbox', { name: 'Reason' }).press('Escape');
    const actions = page.getByRole('button', { name: 'Actions for 1.0.0', exact: true });
    await expect.poll(() => actions.evaluate((button) => button === document.activeElement)).toBe(true);
    await studio.choose('Actions for 1.0.0', 'Deprecate…');
    const deprecate = dialog('Deprecate pinned@1.0.0');
    await deprecate.getByRole('region', { name: 'Affected programs' }).getByText('Morning report').waitFor();
    const why = deprecate.getByRole('textbox', { name: 'Reason' });
    await expect.poll(() => why.evaluate((field) => field === document.activeElement)).toBe(true);
    const instead = deprecate.getByRole('combobox', { name: 'Successor' });
    await expect.poll(() => instead.inputValue()).toBe('pinned@1.0.1');
    await why.fill('It says sun.');
    await page.keyboard.press('Enter');
    await deprecate.waitFor({ state: 'hidden' });
    await page.getByText('deprecated, must move').waitFor();
    expect(await must(atelier, 'GET', '/code-agents/pinned/versions/1.0.0')).toMatchObject({
      deprecated: true,
      reason: 'It says sun.',
      successor: 'pinned@1.0.1',
    });

    await studio.openAgent('pinned@1.0.0');
    await page.getByRole('note', { name: 'Deprecated' }).getByRole('link', { name: 'pinned@1.0.1' }).click();
    await page.getByRole('note', { name: 'Deprecated' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/studio/a/pinned@1.0.1');

    await studio.versions('pinned');
    await studio.choose('Actions for 1.0.0', 'Change the deprecation…');
    await deprecate.getByRole('button', { name: 'Undo deprecation' }).click();
    await deprecate.waitFor({ state: 'hidden' });
    await page.getByText('deprecated, must move').waitFor({ state: 'detached' });
  });

  test('a deletion needs a reason, and the agent can be restored', async () => {
    await studio.versions('pinned');
    await studio.choose('Actions for pinned', 'Delete…', 'main');
    const ask = dialog('Delete pinned?');
    await ask.getByText('Morning report').waitFor();
    const go = ask.getByRole('button', { name: 'Delete anyway' });
    expect(await go.isDisabled()).toBe(true);
    await ask.getByRole('textbox', { name: 'Reason for the deletion' }).fill('Replaced by another.');
    await go.click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect((await atelier.api('GET', '/api/v1/code-agents/pinned')).status).toBe(404);

    await page.goto('/studio/a/pinned');
    await page.getByText('Replaced by another.').waitFor();
    await page.goto('/studio/?state=deleted');
    const gone = page.getByRole('list', { name: 'Deleted agents' });
    await gone.getByText('Replaced by another.').waitFor();
    await gone.getByRole('button', { name: 'Restore pinned' }).click();
    await page.getByText('No agent is deleted.').waitFor();
    expect((await atelier.api('GET', '/api/v1/code-agents/pinned/versions/1.0.0')).status).toBe(200);
  });
});

describe('a draft', () => {
  test('is discarded, and becomes any version again', async () => {
    await publishedAgent(atelier, 'redrafted');
    await studio.openAgent('redrafted');
    await studio.replaceCode('export default () => 7;\n');
    await studio.choose('More about redrafted', 'Discard the draft');
    await dialog('Discard the draft?').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('The draft is now the same as 1.0.0').waitFor();
    await expect.poll(async () => studio.editor.inputValue().catch(() => '')).not.toContain('=> 7');
    expect(await must(atelier, 'GET', '/code-agents/redrafted')).toMatchObject({
      draft: { files: program('Sun').files },
    });

    // Text typed afterwards belongs to the new draft.
    await studio.replaceCode('export default () => 8;\n');
    await studio.openAgent('redrafted@1.0.0');
    await studio.choose('More about redrafted', 'New draft from this version');
    await dialog('Discard the draft?').getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/studio/a/redrafted');
    expect(await must(atelier, 'GET', '/code-agents/redrafted')).toMatchObject({
      draft: { files: program('Sun').files },
    });
  });
});

describe('an agent', () => {
  test('is renamed while it is edited, and its former name leads to it', async () => {
    await publishedAgent(atelier, 'formerly');
    await studio.openAgent('formerly');
    const other = await signIn(browser, atelier);
    try {
      const theirs = new Studio(other.page);
      await theirs.openAgent('formerly');
      await studio.choose('More about formerly', 'Rename…');
      const ask = dialog('Rename formerly');
      await ask.getByRole('textbox', { name: 'New name' }).fill('Not A Name');
      await ask.getByRole('button', { name: 'Rename' }).click();
      await ask.getByText('A name starts with a lower-case letter.').waitFor();
      await ask.getByRole('textbox', { name: 'New name' }).fill('now-called');
      await ask.getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('heading', { name: 'now-called', level: 1 }).waitFor();

      // The other tab is not informed and does not undo it.
      await theirs.replaceCode('export default () => "theirs";\n');
      await other.page.getByRole('heading', { name: 'now-called', level: 1 }).waitFor();
    } finally {
      await other.close();
    }
    await page.goto('/studio/a/formerly');
    await page.getByText('formerly is now now-called').waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/studio/a/now-called');
    const run = await must(atelier, 'POST', '/code-agents/formerly/execute', {
      version: '1.0.0',
      input: { city: 'Oslo' },
    });
    expect(run).toMatchObject({ status: 'succeeded' });
  });

  test('renamed in a list has its new name there before the server is asked again', async () => {
    await publishedAgent(atelier, 'listed-so');
    await page.goto('/studio/');
    const list = page.getByRole('navigation', { name: 'Agents and files' });
    await list.getByRole('link', { name: 'listed-so' }).waitFor();
    const release = await hold(page, '**/api/v1/code-agents?*');
    await list.getByRole('button', { name: 'Actions for listed-so' }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    const ask = dialog('Rename listed-so');
    await ask.getByRole('textbox', { name: 'New name' }).fill('called-so');
    await ask.getByRole('button', { name: 'Rename' }).click();
    await ask.waitFor({ state: 'detached' });
    await list.getByRole('link', { name: 'called-so' }).waitFor();
    expect(await page.getByRole('link', { name: 'listed-so' }).count()).toBe(0);
    release();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('is copied', async () => {
    await publishedAgent(atelier, 'original');
    await studio.versions('original');
    await studio.choose('Actions for original', 'Copy…', 'main');
    await dialog('Copy original').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('heading', { name: 'original-copy', level: 1 }).waitFor();
    expect(await must(atelier, 'GET', '/code-agents/original-copy')).toMatchObject({ latestVersion: '' });
  });

  test('an agent is found by its code, by a tag and by missing runs', async () => {
    await must(atelier, 'POST', '/code-agents', {
      name: 'hidden',
      tags: ['rare'],
      language: 'javascript',
      code: 'export default () => "zyzzyva";\n',
    });
    await page.goto('/studio/');
    const found = page.getByRole('list', { name: 'Agents found' });
    const box = page.getByRole('searchbox', { name: 'Find agents' });
    await box.waitFor();
    const changes = await countChanges(page);
    expect(await typeAtOnce(box, 'zyzzyva')).toEqual({ value: 'zyzzyva', changes: 0 });
    await page
      .getByText(/^Nothing matches/)
      .first()
      .waitFor();
    await page.waitForURL('**/studio/?q=zyzzyva');
    expect(await changes()).toBe(1);
    await page.getByRole('checkbox', { name: 'Also in code' }).check();
    await found.getByRole('link', { name: 'hidden' }).waitFor();
    expect(new URL(page.url()).search).toBe('?q=zyzzyva&code=true');
    await found.getByRole('button', { name: 'Only rare' }).click();
    await page.getByRole('button', { name: 'Any tag, not only rare' }).click();
    await page.getByRole('combobox', { name: 'Use' }).selectOption({ label: 'Not run for 30 days' });
    await page
      .getByText(/^Nothing matches/)
      .first()
      .waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?q=zyzzyva&code=true&unused=30');
  });
});

describe('the public registry', () => {
  test('lists an agent, copies it, and tells of a newer version at the origin', async () => {
    await publishedAgent(atelier, 'shared');
    await studio.versions('shared');
    await studio.choose('Actions for shared', 'List in the registry', 'main');
    await dialog('List shared in the registry?').getByRole('button', { name: 'List' }).click();
    await page.getByText('In the public registry').waitFor();

    await page.goto('/studio/registry');
    await page.getByRole('searchbox', { name: 'Search the registry' }).fill('shared');
    await page.getByRole('button', { name: 'Copy shared' }).click();
    const copy = dialog('Copy shared 1.0.0');
    const name = copy.getByRole('textbox', { name: 'Name of the copy' });
    expect(await name.inputValue()).toBe('shared-2'); // the first name that is free
    await name.fill('shared');
    await copy.getByRole('button', { name: 'Copy' }).click();
    await copy.getByText(/An agent named shared already exists/).waitFor();
    await name.fill('mine');
    await copy.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('heading', { name: 'mine', level: 1 }).waitFor();

    await saveDraft(atelier, 'shared', program('Fog'));
    await must(atelier, 'POST', '/code-agents/shared/versions', { bump: 'auto' });
    await studio.versions('mine');
    await page.getByText('Newer version at origin: 1.0.1.').waitFor();
    await page.getByRole('link', { name: 'Look at it in the registry' }).click();
    await page.waitForURL(/\/registry\/default\/[a-z-]+\?v=1\.0\.1$/);

    await studio.versions('shared');
    let failed = 0;
    page.on('requestfailed', (request) => {
      if (request.url().endsWith('/code-agents/shared')) failed++;
    });
    await page.route('**/api/v1/code-agents/shared', (route) => route.abort());
    await studio.choose('Actions for shared', 'Remove from the registry', 'main');
    await dialog('Remove shared from the registry?').getByRole('button', { name: 'Remove' }).click();
    // Shown content stays when the refresh fails. The refresh is tried three times.
    await expect.poll(() => failed).toBeGreaterThanOrEqual(3);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await page.getByRole('heading', { name: 'shared', level: 1 }).waitFor();
    expect(await page.getByText('could not').count()).toBe(0);
    await page.unrouteAll();
    await page.reload();
    await page.getByText('In the public registry').waitFor({ state: 'detached' });
  });
});

describe('archives', () => {
  test('bring a workspace back with every digest', async () => {
    await publishedAgent(atelier, 'kept');
    const before = await must(atelier, 'GET', '/code-agents/kept/versions/1.0.0');
    await studio.versions('kept');
    const one = page.waitForEvent('download');
    await studio.choose('Actions for kept', 'Export as archive', 'main');
    expect((await one).suggestedFilename()).toBe('kept.tar.gz');

    await page.goto('/studio/');
    const all = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export all' }).click();
    const file = await (await all).path();
    expect((await readFile(file)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));

    await must(atelier, 'DELETE', '/code-agents/kept');
    await page.getByRole('button', { name: 'Import…', exact: true }).click();
    const ask = dialog('Import an archive');
    await ask.getByLabel('Choose an archive').setInputFiles(file);
    await ask.getByText(/^The archive is valid\. Importing adds 1 agent/).waitFor();
    expect((await atelier.api('GET', '/api/v1/code-agents/kept')).status).toBe(404);
    await ask.getByRole('button', { name: 'Import', exact: true }).click();
    await ask.getByText(/^Imported 1 agent/).waitFor();
    await ask.getByRole('link', { name: 'kept', exact: true }).click();
    await page.getByRole('heading', { name: 'kept', level: 1 }).waitFor();
    const after = await must(atelier, 'GET', '/code-agents/kept/versions/1.0.0');
    expect(after).toMatchObject({ digest: (before as { digest: string }).digest });
  });

  test('that are none are refused with a sentence, also when they are dropped', async () => {
    await page.goto('/studio/');
    const target = page.getByRole('heading', { name: 'Agents', level: 1 });
    await target.waitFor();
    await target.evaluate((heading) => {
      const data = new DataTransfer();
      data.items.add(new File(['no archive'], 'holiday.zip'));
      heading.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
    });
    const ask = dialog('Import an archive');
    expect(await ask.getByRole('alert').innerText()).toMatch(/holiday\.zip was refused, and nothing was imported\./);
    expect(await ask.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true);
  });

  test('that are large tell how much of them was sent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-large-'));
    const file = join(folder, 'large.tar.gz');
    await writeFile(file, randomBytes(16 << 20));
    await page.goto('/studio/');
    await page.getByRole('button', { name: 'Import…', exact: true }).click();
    const ask = dialog('Import an archive');
    const line = await page.context().newCDPSession(page); // on loopback the request ends too fast to be seen
    await line.send('Network.enable');
    await line.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 8 << 20,
    });
    const seen = await ask.evaluateHandle((within) => {
      const seen = { shares: [] as number[], said: '' };
      new MutationObserver(() => {
        const bar = within.querySelector('progress');
        if (!bar || bar.position <= 0 || bar.position >= 1) return;
        seen.shares.push(bar.position);
        seen.said = within.textContent;
      }).observe(within, { subtree: true, childList: true, attributes: true, characterData: true });
      return seen;
    });
    await ask.getByLabel('Choose an archive').setInputFiles(file);
    await ask.getByRole('alert').waitFor();
    const { shares, said } = await seen.jsonValue();
    expect(said).toMatch(/Sending large\.tar\.gz, [\d.]+ \w+ of [\d.]+ \w+/);
    expect(shares.length).toBeGreaterThan(1);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    await line.detach();
    await rm(folder, { recursive: true });
  });
});

describe('failed loads succeed on retry', () => {
  test('on the page of versions', async () => {
    await publishedAgent(atelier, 'away-1');
    let allow = await refuse(page, '**/code-agents/away-1/versions');
    await studio.versions('away-1');
    await askAgain(page, 'The versions could not be loaded.', allow);
    const list = page.getByRole('table', { name: 'Versions of away-1' });
    await list.getByRole('link', { name: '1.0.0' }).waitFor();

    allow = await refuse(page, '**/code-agents/away-1/pins');
    await studio.versions('away-1');
    await askAgain(page, 'Its references could not be loaded.', allow);
    await page.getByText(/^No references yet\./).waitFor();

    allow = await refuse(page, '**/code-agents/away-1/diff?*');
    await studio.versions('away-1');
    await list.getByText('It could not be compared with 1.0.0. Not now.').waitFor();
    await allow();
    await list.getByRole('button', { name: 'Retry' }).click();
    await list.getByText('No changes since 1.0.0.').waitFor();
  });

  test('in the panel next to the editor', async () => {
    await publishedAgent(atelier, 'away-2');
    const allow = await refuse(page, '**/code-agents/away-2/versions');
    await studio.openAgent('away-2');
    const panel = page.getByRole('complementary', { name: 'Configuration' });
    await askAgain(panel, 'The versions could not be loaded.', allow);
    await panel.getByRole('link', { name: '1.0.0' }).waitFor();
    await panel.getByRole('button', { name: 'Versions', exact: true }).click();
    await panel.getByRole('button', { name: /^Versions ?1 version$/ }).waitFor();
  });

  test.each([
    ['Actions for 1.0.0', 'Deprecate…', 'Deprecate away-3@1.0.0', 'away-3'],
    ['Actions for away-4', 'Delete…', 'Delete away-4?', 'away-4'],
  ])('in the dialog from %s, %s', async (menu, item, title, name) => {
    await publishedAgent(atelier, name);
    const allow = await refuse(page, `**/code-agents/*/pins`);
    await studio.versions(name);
    await studio.choose(menu, item, 'main');
    const shown = dialog(title);
    await askAgain(shown, 'Its references could not be loaded.', allow);
    await shown.getByText('No program references it.').waitFor();
    expect(await shown.evaluate((open) => open.contains(document.activeElement))).toBe(true);
  });

  test('but a version that is gone is not waited for', async () => {
    await publishedAgent(atelier, 'away-7');
    await page.clock.install();
    await studio.versions('away-7');
    await page.getByRole('button', { name: 'Actions for 1.0.0' }).waitFor();
    await page.route('**/code-agents/away-7/versions', (route) => route.fulfill({ json: { items: [] } }));
    await page.clock.fastForward(15_000); // the content is stale by then
    await studio.choose('Actions for 1.0.0', 'Deprecate…');
    const shown = dialog('Deprecate away-7@1.0.0');
    await shown.getByRole('alert').filter({ hasText: 'There is no version 1.0.0 any more.' }).waitFor();
    expect(await shown.getByRole('status').count()).toBe(0);
    await shown.getByRole('button', { name: 'Cancel' }).click();
  });

  test('where versions are compared, and a file of them', async () => {
    await publishedAgent(atelier, 'away-5');
    await saveDraft(atelier, 'away-5', program('Fog'));
    let allow = await refuse(page, '**/code-agents/away-5/diff?*');
    await studio.versions('away-5');
    await page.getByRole('button', { name: 'Compare…' }).click();
    const shown = dialog('Compare away-5');
    await askAgain(shown, 'The versions could not be compared.', allow);
    await shown.getByRole('region', { name: 'Changes of main.js' }).waitFor();
    allow = await refuse(page, '**/code-agents/away-5/versions/1.0.0');
    await shown.getByRole('radio', { name: 'Side by side' }).click();
    await askAgain(shown, 'The file could not be loaded.', allow);
    await shown.getByRole('textbox', { name: '1.0.0' }).waitFor({ state: 'attached' });
  });

  test('where a version is exported', async () => {
    await publishedAgent(atelier, 'away-6');
    await studio.versions('away-6');
    const allowed = [
      await refuse(page, '**/code-agents/away-6/export-tool'),
      await refuse(page, '**/code-agents/away-6/versions/1.0.0'),
    ];
    await studio.choose('Actions for 1.0.0', 'Export as tool');
    const shown = dialog(/away-6/);
    const words = ['The manifest could not be loaded.', 'Its input schema could not be loaded.'];
    for (const [i, allow] of allowed.entries()) await askAgain(shown, words[i] ?? '', allow);
    await shown.getByRole('region', { name: 'Manifest' }).waitFor();
    await shown.getByRole('region', { name: 'Call it over HTTP' }).waitFor();
  });
});

describe('loading states of dialogs', () => {
  const height = async (shown: Locator): Promise<number> => (await shown.boundingBox())?.height ?? NaN;
  const waits = async (shown: Locator, what: string): Promise<void> => {
    await shown
      .getByRole('status')
      .filter({ hasText: `Loading ${what}…` })
      .waitFor();
    expect(await shown.locator('[aria-busy=true]').count()).toBe(1);
  };

  test.each([
    ['Actions for 1.0.0', 'Deprecate…', 'Deprecate slow-1@1.0.0', 'slow-1'],
    ['Actions for slow-2', 'Delete…', 'Delete slow-2?', 'slow-2'],
  ])('has its form from %s, %s', async (menu, item, title, name) => {
    await publishedAgent(atelier, name);
    const release = await hold(page, '**/code-agents/*/pins*');
    await studio.versions(name);
    await studio.choose(menu, item, 'main');
    const shown = dialog(title);
    await waits(shown, 'its references');
    const before = await height(shown);
    release();
    await shown.getByText('No program references it.').waitFor();
    expect(Math.abs((await height(shown)) - before)).toBeLessThan(1); // differences below one pixel are invisible
  });

  test('does not take the focus when it comes', async () => {
    await publishedAgent(atelier, 'slow-4');
    const release = await hold(page, '**/code-agents/*/pins*');
    await studio.versions('slow-4');
    await studio.choose('Actions for 1.0.0', 'Deprecate…');
    const shown = dialog('Deprecate slow-4@1.0.0');
    await waits(shown, 'its references');
    const close = shown.getByRole('button', { name: 'Close' });
    await close.focus();
    release();
    await shown.getByText('No program references it.').waitFor();
    expect(await close.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test('has its form where versions are compared', async () => {
    await publishedAgent(atelier, 'slow-3');
    await saveDraft(atelier, 'slow-3', program('Fog'));
    const release = await hold(page, '**/diff?*');
    await studio.versions('slow-3');
    const since = page.getByRole('table', { name: 'Versions of slow-3' });
    await since.getByText('Comparing with 1.0.0…').waitFor();
    await page.getByRole('button', { name: 'Compare…' }).click();
    await waits(dialog('Compare slow-3'), 'the comparison');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Publish the draft…' }).click();
    const shown = dialog('Publish slow-3');
    await waits(shown, 'the advice');
    const before = await height(shown);
    release();
    await shown.getByRole('region', { name: 'Advice' }).getByText('1.0.1').waitFor();
    expect(Math.abs((await height(shown)) - before)).toBeLessThan(1); // differences below one pixel are invisible
    await page.keyboard.press('Escape');
    await since.getByText('A patch change since 1.0.0: 1.0.1 comes next.').waitFor();
  });
});

describe('saved drafts', () => {
  test('an earlier save is compared, labelled and made the draft again', async () => {
    await publishedAgent(atelier, 'remembered');
    await saveDraft(atelier, 'remembered', program('Fog'));
    await saveDraft(atelier, 'remembered', program('Hail'));
    await studio.versions('remembered');
    const saves = page.getByRole('table', { name: 'Saved drafts of remembered' });
    await expect.poll(() => saves.getByRole('button', { name: /^Show revision/ }).count()).toBe(3);
    expect(await saves.getByRole('row').nth(1).innerText()).toMatch(/Revision 3[^]*current[^]*main\.js/);

    await saves.getByRole('button', { name: 'Show revision 2' }).click();
    const save = dialog('Saved draft, revision 2');
    const lines = save.getByRole('region', { name: 'Changes of main.js' });
    await expect.poll(() => lines.innerText()).toMatch(/Hail[^]*Fog/);
    await save.getByRole('textbox', { name: 'Label' }).fill('before hail');
    await save.getByRole('button', { name: 'Store label' }).click();
    await page.getByText('The label of revision 2 is stored').waitFor();
    await save.getByRole('button', { name: 'Restore' }).click();
    await save.waitFor({ state: 'detached' });
    await page.getByText('Revision 2 is the draft again. Revision 3 stays in the saved drafts.').waitFor();

    const { draft } = (await must(atelier, 'GET', '/code-agents/remembered')) as { draft: { files: unknown } };
    expect(draft.files).toEqual(program('Fog').files);
    await saves.getByRole('button', { name: 'Show revision 4' }).waitFor();
    expect(await saves.getByRole('row').filter({ hasText: 'before hail' }).innerText()).toContain('Revision 2');
  });

  test('the editor opens the history of its draft, with edits that were just typed, and restores a save', async () => {
    await publishedAgent(atelier, 'retraced');
    await studio.openAgent('retraced');
    await studio.editor.focus();
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.type('// typed just now\n');
    await page.getByRole('button', { name: 'History of the draft' }).click();
    const history = dialog('History of the draft');
    await history.getByRole('button', { name: 'Show revision 2' }).waitFor();
    await history.getByRole('button', { name: 'Compare revision 1 with the draft' }).click();
    const save = dialog('Saved draft, revision 1');
    await expect
      .poll(() => save.getByRole('region', { name: 'Changes of main.js' }).innerText())
      .toMatch(/typed\sjust\snow/);
    await save.getByRole('button', { name: 'All saves' }).click();
    await history.getByRole('button', { name: 'Show revision 1' }).click();
    await save.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Revision 1 is the draft again. Revision 2 stays in the saved drafts.').waitFor();
    await expect.poll(() => page.locator('.view-lines').first().innerText()).not.toMatch(/typed\sjust\snow/);
    const { draft } = (await must(atelier, 'GET', '/code-agents/retraced')) as { draft: { files: unknown } };
    expect(JSON.stringify(draft.files)).not.toContain('typed just now');
  });

  test('a save is not restored over a draft that another person saved meanwhile', async () => {
    await publishedAgent(atelier, 'contested');
    await saveDraft(atelier, 'contested', program('Fog'));
    await studio.versions('contested');
    await page.getByRole('button', { name: 'Show revision 1' }).click();
    const save = dialog('Saved draft, revision 1');
    await save.getByRole('region', { name: 'Changes of main.js' }).waitFor();
    await saveDraft(atelier, 'contested', program('Hail'));
    await save.getByRole('button', { name: 'Restore' }).click();
    await save.getByRole('alert').waitFor();
    const { draft } = (await must(atelier, 'GET', '/code-agents/contested')) as { draft: { files: unknown } };
    expect(draft.files).toEqual(program('Hail').files);
  });
});
