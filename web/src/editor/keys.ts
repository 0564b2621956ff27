// Whose keys the editor has. Others than its own are a script of their own, fetched when they are chosen.
import { vim as say } from '../texts/editor';
import type { monaco } from './monaco';
import type { EditorSettings } from './settings';

type Keys = EditorSettings['keys'];

export class EditorKeys {
  /** Undefined when they could not be had: whatever is chosen next is another choice. */
  private wanted: Keys | undefined = 'own';
  private opened: monaco.IDisposable | undefined;

  /** `line` is the element beneath the editor in which the keys say their mode. */
  constructor(
    private readonly editor: monaco.editor.IStandaloneCodeEditor,
    private readonly line: HTMLElement,
  ) {}

  choose(keys: Keys): void {
    if (keys === this.wanted) return;
    this.close();
    this.wanted = keys;
    if (keys === 'vim') void this.open();
  }

  dispose(): void {
    this.close();
    this.wanted = 'own';
  }

  private async open(): Promise<void> {
    try {
      const { openVim } = await import('./vim/openVim');
      if (this.wanted === 'vim' && !this.opened) this.opened = openVim(this.editor, this.line);
    } catch {
      if (this.wanted !== 'vim') return;
      this.wanted = undefined;
      this.tell(say.notLoaded);
    }
  }

  private tell(words: string): void {
    const told = document.createElement('span');
    told.setAttribute('role', 'alert');
    told.textContent = words;
    this.line.replaceChildren(told);
  }

  private close(): void {
    this.opened?.dispose();
    this.opened = undefined;
    this.line.textContent = '';
  }
}
