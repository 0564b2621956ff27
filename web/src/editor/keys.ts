// Sets the keymap of the editor. A keymap other than Monaco's is downloaded when the user selects it.
import { vim as say } from '../texts/editor';
import type { monaco } from './monaco';
import type { EditorSettings } from './settings';

type Keys = EditorSettings['keys'];

export class EditorKeys {
  /** Undefined if the keymap could not be loaded. When the user selects it again, the Studio tries again. */
  private wanted: Keys | undefined = 'own';
  private opened: monaco.IDisposable | undefined;

  /** Applies a keymap. `line` is the element below the editor that shows the mode. */
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
