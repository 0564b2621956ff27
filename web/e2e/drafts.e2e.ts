// Edits survive a reload, a server crash, a closed page and a second tab.
import { expect, test } from 'vitest';
import { leaveTour, type Session } from './kit/browser';
import { hold } from './kit/hold';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let session: Session;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, session, studio } = stage);
});

const program = (word: string): string => `echo "${word}"\n`;

async function open(name: string): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'bash',
    entrypoint: 'main.sh',
    files: { 'main.sh': program('first') },
  });
  await studio.openAgent(name);
}

const stored = (name: string) => async (): Promise<unknown> => {
  const agent = await must(atelier, 'GET', `/code-agents/${name}`);
  return (agent as { draft: { files: Record<string, string> } }).draft.files['main.sh'];
};
const offline = (at: Studio) => at.draft.filter({ hasText: 'Offline, changes stored in this browser' }).waitFor();

test('A17 an edit is saved by itself and there after a reload', async () => {
  await open('saves');
  await studio.replaceCode(program('second'));
  expect(await stored('saves')()).toBe(program('second'));
  await session.page.reload();
  await studio.editorReady();
  await session.page.getByText('"second"').waitFor();
});

test('edits can be undone after a reload', async () => {
  await open('undone');
  const { page } = session;
  await studio.replaceCode(program('second'));
  await studio.replaceCode(program('third'));
  await page.reload();
  await studio.editorReady();
  await page.getByText('"third"').waitFor();
  await studio.editor.focus();
  await page.keyboard.press('ControlOrMeta+Z');
  await page.getByText('"second"').waitFor();
  await page.keyboard.press('ControlOrMeta+Z');
  await page.getByText('"first"').waitFor();
  await studio.saved();
  expect(await stored('undone')()).toBe(program('first'));
  await page.keyboard.press('ControlOrMeta+Shift+Z');
  await page.getByText('"second"').waitFor();
});

test('a key draws its line and the place of the cursor, and nothing else of the screen', async () => {
  await open('draws');
  const { page } = session;
  await studio.editor.focus();
  await page.keyboard.press('ControlOrMeta+End');
  const release = await hold(page, '**/code-agents/*', 'PUT');
  await page.keyboard.type('# ');
  await studio.draft.filter({ hasText: 'Saving' }).waitFor();
  const changed = await page.evaluateHandle(() => {
    const seen = new Set<string>();
    new MutationObserver((changes) => {
      for (const { target, attributeName } of changes) {
        const at = target instanceof Element ? target : target.parentElement;
        if (!at || at.closest('.monaco-editor') || at.textContent.startsWith('Ln ')) continue;
        seen.add(`${at.tagName} ${at.className} ${at.ariaLabel ?? ''} ${attributeName ?? ''}`);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    return seen;
  });
  await page.keyboard.type('words of somebody who types');
  await page.getByText(/^Ln 2, Col 30$/).waitFor();
  expect(await changed.evaluate((seen) => [...seen])).toEqual([]);
  release();
  await studio.draft.filter({ hasText: 'Saved' }).waitFor();
});

test('the editor edits and saves when its worker could not be loaded', async () => {
  let asked = 0;
  await session.context.route(/editor\.worker/, (route) => {
    asked++;
    return route.abort();
  });
  await open('alone');
  await studio.replaceCode(program('second'));
  await expect.poll(() => asked).toBeGreaterThan(0);
  expect(await stored('alone')()).toBe(program('second'));
});

test('A18 edits are kept while the server is away and saved when it is back', async () => {
  await open('away');
  await atelier.kill();
  await studio.replace(program('alone'));
  await offline(studio);
  await atelier.restart();
  await studio.saved();
  expect(await stored('away')()).toBe(program('alone'));
});

test('A18 edits come back when page and server ended before they were saved, and can be discarded', async () => {
  await open('crashes');
  await atelier.kill();
  await studio.replace(program('crashed'));
  await offline(studio);
  await session.page.close();
  await atelier.restart();
  const page = await session.context.newPage();
  const again = new Studio(page);
  await again.openAgent('crashes');
  await page.getByText('Unsaved edits were restored').waitFor();
  await expect.poll(stored('crashes')).toBe(program('crashed'));
  await page.getByRole('button', { name: 'Discard them' }).click();
  await expect.poll(stored('crashes')).toBe(program('first'));
});

test('A19 edits of a page that ended are compared with what was saved since', async () => {
  await open('both');
  await atelier.kill();
  await studio.replace(program('mine'));
  await offline(studio);
  await session.page.close();
  await atelier.restart();
  const { draft } = (await must(atelier, 'GET', '/code-agents/both')) as { draft: { revision: number } };
  const files = { 'main.sh': program('theirs') };
  await atelier.api('PUT', '/api/v1/code-agents/both', { files }, { 'If-Match': `"${String(draft.revision)}"` });
  const page = await session.context.newPage();
  const again = new Studio(page);
  await page.goto('/studio/a/both');
  const dialog = page.getByRole('dialog', { name: 'This draft was changed elsewhere' });
  await dialog.getByText('"theirs"').waitFor();
  await dialog.getByText('"mine"').waitFor();
  await dialog.getByRole('button', { name: 'Take theirs' }).click();
  await again.saved();
  expect(await stored('both')()).toBe(program('theirs'));
  await page.getByText('"theirs"').first().waitFor();
});

test('publishing what another person changed meanwhile asks first, and the version holds the merge', async () => {
  const { page } = session;
  await page.route('**/code-agents/*/events', (route) => route.abort()); // the page is not notified of the other save
  await open('shared');
  const text = (first: string, last: string): string => `echo ${first}\n\n\n\necho ${last}\n`;
  await studio.replaceCode(text('one', 'two'));
  const { draft } = (await must(atelier, 'GET', '/code-agents/shared')) as { draft: { revision: number } };
  const theirs = { files: { 'main.sh': text('one', 'THEIRS') } };
  await atelier.api('PUT', '/api/v1/code-agents/shared', theirs, { 'If-Match': `"${String(draft.revision)}"` });

  // The page still shows the earlier save. The dialog requests that revision, so the conflict is reported first.
  await page.getByRole('button', { name: 'Publish…' }).click();
  const dialog = page.getByRole('dialog', { name: 'This draft was changed elsewhere' });
  await dialog.getByText(/^Administrator saved it/).waitFor();
  const { status } = await atelier.api('GET', '/api/v1/code-agents/shared/versions/1.0.0');
  expect(status).toBe(404);
  await dialog.getByRole('button', { name: 'Use the merge' }).click();
  await dialog.waitFor({ state: 'detached' });
  await studio.saved();

  // An edit that began from an older revision is merged line by line.
  const before = (await must(atelier, 'GET', '/code-agents/shared')) as { draft: { revision: number } };
  const again = { files: { 'main.sh': text('one', 'AGAIN') } };
  await atelier.api('PUT', '/api/v1/code-agents/shared', again, { 'If-Match': `"${String(before.draft.revision)}"` });
  await studio.replace(text('MINE', 'THEIRS'));
  await dialog.getByRole('button', { name: 'Use the merge' }).click();
  await dialog.waitFor({ state: 'detached' });
  await studio.saved();
  await studio.publish('1.0.0');
  const version = (await must(atelier, 'GET', '/code-agents/shared/versions/1.0.0')) as { files: unknown };
  expect(version.files).toEqual({ 'main.sh': text('MINE', 'AGAIN') });
});

test('a save of another person arrives at once, and the status line says who else is here', async () => {
  await open('watched');
  const { page } = session;
  const { link } = (await must(atelier, 'POST', '/invitations', { role: 'developer', note: 'Ada' })) as {
    link: string;
  };
  const ada = await session.context.browser()?.newContext({
    baseURL: atelier.url,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  if (ada === undefined) throw new Error('there is no browser');
  const password = 'correct horse battery staple';
  const joined = await ada.request.post('/api/v1/invitations/accept', {
    data: { secret: link.slice(link.indexOf('#') + 1), name: 'ada', title: 'Ada', password },
  });
  expect(joined.status()).toBe(204);
  await leaveTour(ada);
  const hers = await ada.newPage();
  await hers.goto('/studio/a/watched');
  await page.getByText(/^ada is here$/i).waitFor();
  await hers.getByText(/^.+ is here$/).waitFor();

  const theirs = new Studio(hers);
  await theirs.editorReady();
  await theirs.replaceCode(program('hers'));
  await page.getByText('"hers"').first().waitFor();
  await page.getByText(/^Changed by ada /i).waitFor();

  await ada.close();
  await page.getByText(/^ada is here$/i).waitFor({ state: 'detached' });
});

test('two tabs of one browser show one draft, and compare before either overwrites', async () => {
  await open('tabs');
  const page = await session.context.newPage();
  const other = new Studio(page);
  await other.openAgent('tabs');
  await studio.replaceCode(program('here'));
  await page.getByText('"here"').waitFor();
  await other.saved();
  await other.replaceCode(program('there'));
  await session.page.getByText('"there"').waitFor();

  // Its own save is blocked, so only the first tab can notify it.
  await page.route('**/api/v1/code-agents/*', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await other.replace(program('mine'));
  await offline(other);
  await studio.replaceCode(program('theirs'));
  const dialog = page.getByRole('dialog', { name: 'This draft was changed elsewhere' });
  await dialog.getByText('"theirs"').waitFor();
  await dialog.getByText('"mine"').waitFor();
  await page.unrouteAll();
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await other.saved();
  expect(await stored('tabs')()).toBe(program('mine'));
  await session.page.getByText('"mine"').waitFor();
});

test('an unfinished schema stays unchanged when another tab saves something else', async () => {
  await open('writes');
  const { page } = session;
  await page.getByRole('button', { name: 'Edit input schema' }).click();
  await page.getByRole('radio', { name: 'JSON' }).first().click();
  await studio.replace('{ "type": "object", ');
  const fault = page.getByRole('main').getByRole('alert').filter({ hasText: 'line 1' });
  await fault.waitFor();
  const other = new Studio(await session.context.newPage());
  await other.openAgent('writes');
  await other.replaceCode(program('there'));
  await page.getByRole('tab', { name: 'main.sh' }).click();
  await page.getByText('"there"').waitFor();
  await page.getByRole('tab', { name: /schema/i }).click();
  await fault.waitFor();
  await page
    .locator('.view-line')
    .filter({ hasText: /^\{.*"object",\s*$/ })
    .waitFor();
});

test('theme and settings of one tab hold in the others', async () => {
  await open('looks');
  const page = await session.context.newPage();
  await new Studio(page).openAgent('looks');
  const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
  expect(await theme()).toBe('dark');
  await session.page.getByRole('button', { name: /theme/ }).click();
  await expect.poll(theme).toBe('light');
  await session.page.getByRole('button', { name: 'Editor settings' }).click();
  await session.page.getByRole('spinbutton', { name: 'Font size' }).fill('19');
  const size = () =>
    page
      .locator('.view-line span')
      .first()
      .evaluate((span) => getComputedStyle(span).fontSize);
  await expect.poll(size).toBe('19px');
});

test('a user who returns before the last edit is saved sees it', async () => {
  await open('returns');
  const { page } = session;
  const release = await hold(page, '**/code-agents/*', 'PUT');
  const sent = page.waitForRequest((request) => request.method() === 'PUT');
  await studio.replace(program('second'));
  await sent;
  await page.getByRole('link', { name: 'Atelier, all agents' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  let read = 0;
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().endsWith('/code-agents/returns')) read++;
  });
  await page
    .getByRole('navigation', { name: 'Agents and files' })
    .getByRole('link', { name: /returns/ })
    .click();
  await page.waitForURL('**/a/returns');
  await page.getByText('Loading returns').waitFor();
  expect(read).toBe(0);
  release();
  await studio.editorReady();
  await page.getByText('"second"').waitFor();
  await studio.saved();
  expect(await page.getByRole('region', { name: 'Notices' }).getByRole('button').count()).toBe(0);
  expect(await stored('returns')()).toBe(program('second'));
});
