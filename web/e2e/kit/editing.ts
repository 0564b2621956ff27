// Contains helpers for the editor: cursor, suggestions and markers.
import type { Page } from 'playwright-core';

export class Editing {
  constructor(private readonly page: Page) {}

  private get editor() {
    return this.page.getByRole('textbox', { name: /^Code editor/ });
  }

  /** Waits for the Python language service, which starts when a Python file is opened. */
  async pythonReady(): Promise<void> {
    await this.page.getByText('Python: ready').waitFor();
  }

  /** Moves the cursor to a column of a line, or to its end. */
  async at(line: number, column?: number): Promise<void> {
    const { keyboard } = this.page;
    await this.editor.focus();
    await keyboard.press('ControlOrMeta+Home');
    for (let n = 1; n < line; n++) await keyboard.press('ArrowDown');
    await keyboard.press(column === undefined ? 'End' : 'Home');
    for (let n = 1; n < (column ?? 1); n++) await keyboard.press('ArrowRight');
  }

  /** Replaces a line after its indentation. */
  async retype(line: number, text: string): Promise<void> {
    await this.at(line);
    await this.page.keyboard.press('Shift+Home');
    await this.page.keyboard.type(text);
  }

  /** Waits until the suggestion list contains a word. */
  async suggests(word: string): Promise<void> {
    await this.page.getByRole('option', { name: word }).first().waitFor();
  }

  /** Goes to the next marker of the file and waits until its message contains the text. */
  async hasMark(message: RegExp): Promise<void> {
    await this.page.getByTitle(/^[1-9]\d* errors?$/).waitFor();
    await this.editor.focus();
    await this.page.keyboard.press('F8');
    await this.page.getByText(message).first().waitFor();
  }
}
