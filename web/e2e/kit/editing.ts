// The editor under somebody's fingers: where the cursor is, what is offered, what is marked.
import type { Page } from 'playwright-core';

export class Editing {
  constructor(private readonly page: Page) {}

  private get editor() {
    return this.page.getByRole('textbox', { name: /^Code editor/ });
  }

  /** Waits for Python's language service, which comes when a Python file is looked at. */
  async pythonReady(): Promise<void> {
    await this.page.getByText('Python: ready').waitFor();
  }

  /** Puts the cursor at the end of a line, or at one of its columns. */
  async at(line: number, column?: number): Promise<void> {
    const { keyboard } = this.page;
    await this.editor.focus();
    await keyboard.press('ControlOrMeta+Home');
    for (let n = 1; n < line; n++) await keyboard.press('ArrowDown');
    await keyboard.press(column === undefined ? 'End' : 'Home');
    for (let n = 1; n < (column ?? 1); n++) await keyboard.press('ArrowRight');
  }

  /** Types a line anew, behind its indentation. */
  async retype(line: number, text: string): Promise<void> {
    await this.at(line);
    await this.page.keyboard.press('Shift+Home');
    await this.page.keyboard.type(text);
  }

  /** Waits until the list of suggestions has a word. */
  async suggests(word: string): Promise<void> {
    await this.page.getByRole('option', { name: word }).first().waitFor();
  }

  /** Goes to the next mark of the file and waits until its message says this. */
  async hasMark(message: RegExp): Promise<void> {
    await this.page.getByTitle(/^[1-9]\d* errors?$/).waitFor();
    await this.editor.focus();
    await this.page.keyboard.press('F8');
    await this.page.getByText(message).first().waitFor();
  }
}
