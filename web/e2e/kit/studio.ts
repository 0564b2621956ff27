// Uses the Studio like a user: it finds every element by role and name.
import { expect } from 'vitest';
import type { Locator, Page } from 'playwright-core';

export class Studio {
  constructor(readonly page: Page) {}

  /** Opens the list of agents. */
  async home(): Promise<void> {
    await this.page.goto('/studio/');
    await this.page.getByRole('heading', { name: 'Start with a sample' }).waitFor();
  }

  async openSample(title: string): Promise<void> {
    const samples = this.page.getByRole('list', { name: 'Start with a sample' });
    await samples.getByRole('button', { name: title }).click();
    await this.editorReady();
  }

  async openAgent(name: string): Promise<void> {
    await this.page.goto(`/studio/a/${name}`);
    await this.editorReady();
  }

  /** Opens the menu with the pages of the workspace and the server. On a narrow screen it has all pages. */
  async manage(): Promise<void> {
    const button = this.page.getByRole('button', { name: 'Manage', exact: true });
    const narrow = this.page.getByRole('button', { name: /^Go to a page/ });
    await button.or(narrow).filter({ visible: true }).click();
  }

  /** Opens the versions page of an agent. */
  async versions(name: string): Promise<void> {
    await this.page.goto(`/studio/a/${name}/versions`);
    await this.page.getByRole('table', { name: `Versions of ${name}` }).waitFor();
  }

  /**
   * Selects an entry in the menu of a button. `within` names the part of the screen, if several buttons have the same
   * name.
   */
  async choose(button: string, item: string, within: 'page' | 'main' = 'page'): Promise<void> {
    const place = within === 'main' ? this.page.getByRole('main') : this.page;
    await place.getByRole('button', { name: button, exact: true }).click();
    await this.page.getByRole('menuitem', { name: item, exact: true }).click();
  }

  /** Returns the text box of the editor. */
  get editor(): Locator {
    return this.page.getByRole('textbox', { name: /^Code editor/ });
  }

  async editorReady(): Promise<void> {
    await this.editor.waitFor({ state: 'attached' });
  }

  /**
   * Replaces the whole text of the open file by pasting. The editor would add indentation to typed text, but not to
   * pasted text.
   */
  async replace(code: string): Promise<void> {
    await this.page.evaluate((text) => navigator.clipboard.writeText(text), code);
    await this.editor.focus();
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.press('ControlOrMeta+V');
  }

  /** Replaces the whole text of the open file, and waits until the draft is saved. */
  replaceCode(code: string): Promise<void> {
    return this.saving(() => this.replace(code));
  }

  /** Replaces the input schema as JSON, and then opens a file again. */
  async rewriteInputSchema(properties: Record<string, unknown>, file: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Edit input schema' }).click();
    await this.page.getByRole('radio', { name: 'JSON' }).first().click();
    await this.replaceCode(JSON.stringify({ type: 'object', properties }));
    await this.page.getByRole('tab', { name: file }).click();
  }

  /** Makes an edit and waits until it is saved. For a short time after the edit, the Studio still shows "saved". */
  async saving(edit: () => Promise<unknown>): Promise<void> {
    const sent = this.page.waitForResponse(
      (answer) => answer.request().method() === 'PUT' && answer.url().includes('/api/v1/code-agents/'),
    );
    await Promise.all([sent, edit()]);
    await this.saved();
  }

  /** Returns the editor that shows the input as JSON. */
  get jsonInput(): Locator {
    return this.page.getByRole('textbox', { name: 'Input as JSON' });
  }

  /** Shows the input as JSON and replaces it. */
  async setInput(json: string): Promise<void> {
    await this.inputAsJson();
    await this.fillCode('Input as JSON', json);
  }

  /** The code editor of a field, once it is loaded. */
  private async codeField(name: string): Promise<Locator> {
    const field = this.page.getByRole('textbox', { name });
    await this.page.locator('.monaco-editor').filter({ has: field }).waitFor();
    return field;
  }

  /** Replaces the text of a field that is a code editor. */
  async fillCode(name: string, text: string): Promise<void> {
    const field = await this.codeField(name);
    await this.page.evaluate((all) => navigator.clipboard.writeText(all), text);
    await field.focus();
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.press('ControlOrMeta+V');
  }

  /** The text of a field that is a code editor. */
  async codeIn(name: string): Promise<string> {
    await this.page.evaluate(() => navigator.clipboard.writeText(''));
    await (await this.codeField(name)).focus();
    await this.page.keyboard.press('ControlOrMeta+A');
    return this.copied();
  }

  /** Copies the selected text. */
  async copied(): Promise<string> {
    await this.page.keyboard.press('ControlOrMeta+C');
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Shows the input as JSON and returns its text. */
  async inputAsJson(): Promise<string> {
    const input = await this.panel('Input');
    await input.getByRole('radio', { name: 'JSON' }).click();
    return this.codeIn('Input as JSON');
  }

  get draft(): Locator {
    return this.page.getByRole('status', { name: 'Draft' });
  }

  async saved(): Promise<void> {
    await this.draft.filter({ hasText: /^Saved$/ }).waitFor();
  }

  get state(): Locator {
    return this.page.getByRole('status', { name: 'Run state' });
  }

  /**
   * Starts a run with the keyboard while the editor has the focus. The result of the previous run disappears
   * immediately.
   */
  async start(): Promise<void> {
    await this.editor.focus();
    await this.page.keyboard.press('ControlOrMeta+Enter');
  }

  /** Runs the command with this title in the command palette. */
  async command(words: string, title: string): Promise<void> {
    await this.page.keyboard.press('ControlOrMeta+K');
    const palette = this.page.getByRole('dialog', { name: 'Command palette' });
    await palette.getByRole('combobox').fill(words);
    await palette.getByRole('option', { name: title, selected: true }).waitFor();
    await this.page.keyboard.press('Enter');
    await palette.waitFor({ state: 'detached' });
  }

  /** Waits until the current run ends. */
  async ended(words: RegExp): Promise<void> {
    await this.state.filter({ hasText: words }).waitFor();
  }

  async panel(name: 'Input' | 'Console' | 'Result' | 'History'): Promise<Locator> {
    await this.page.getByRole('tablist', { name: 'Run' }).getByRole('tab', { name }).click();
    return this.page.getByRole('tabpanel', { name });
  }

  /** Returns the visible console lines without their numbers. */
  async consoleLines(): Promise<string[]> {
    const console = await this.panel('Console');
    return console.getByRole('group', { name: 'Program output' }).getByRole('listitem').allInnerTexts();
  }

  /**
   * Waits until a line of the console contains the text. At the end of a run the Studio shows the result, so the
   * console is opened again.
   */
  async hasPrinted(text: string): Promise<void> {
    const lines = async (): Promise<number> => {
      const console = await this.panel('Console');
      return console.getByRole('listitem').filter({ hasText: text }).count();
    };
    await expect.poll(lines).toBeGreaterThan(0);
  }

  /** Returns the output of the last run, which it copies from the result panel. */
  async result(): Promise<unknown> {
    const result = await this.panel('Result');
    await this.page.evaluate(() => navigator.clipboard.writeText(''));
    await result.getByRole('button', { name: 'Copy the output as JSON' }).click();
    const copied = (): Promise<string> => this.page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(copied).not.toBe('');
    return JSON.parse(await copied());
  }

  /** Opens the export dialog, selects a format and returns its text and the terminal command. */
  async exported(form: string): Promise<{ manifest: string; curl: string }> {
    await this.page.getByRole('button', { name: 'Export as tool' }).click();
    const dialog = this.page.getByRole('dialog');
    await dialog.getByRole('tab', { name: form }).click();
    const manifest = await dialog.getByRole('region', { name: 'Manifest' }).innerText();
    const curl = await dialog.getByRole('region', { name: 'Call it over HTTP' }).innerText();
    await this.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    return { manifest, curl };
  }

  async publish(version: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Publish…' }).click();
    const asking = this.page.getByRole('dialog', { name: /^Publish / });
    await asking.getByRole('textbox', { name: 'Version' }).fill(version);
    await asking.getByRole('button', { name: `Publish ${version}` }).click();
    const done = this.page.getByRole('dialog', { name: `Published ${version}` });
    await done.getByRole('button', { name: 'Done' }).click();
    await done.waitFor({ state: 'hidden' });
  }

  async hasNoErrorMarks(): Promise<void> {
    await expect.poll(() => this.page.getByTitle('0 errors').count()).toBe(1);
  }
}
