// Creates the line below the editor that shows Vim's mode and reads commands and searches.
import { StatusBar } from 'monaco-vim';
import { vim as say } from '../../texts/editor';

export class ModeLine extends StatusBar {
  constructor(
    private readonly line: HTMLElement,
    ...rest: SkipFirst<ConstructorParameters<typeof StatusBar>>
  ) {
    super(line, ...rest);
    // Contains the mode, prompt, message and pending keys. Screen readers announce changes.
    const [mode, , said] = line.children;
    mode?.setAttribute('role', 'status');
    mode?.setAttribute('aria-label', say.mode);
    said?.setAttribute('role', 'status');
  }

  override setMode({ mode, subMode }: { mode: string; subMode?: string }): void {
    this.setText(say.modes[subMode === undefined || subMode === '' ? mode : `${mode} ${subMode}`] ?? mode);
  }

  override setSec(...asked: Parameters<StatusBar['setSec']>): () => void {
    const close = super.setSec(...asked);
    const input = this.line.querySelector('input');
    const prefix = input?.previousSibling?.textContent ?? '';
    input?.setAttribute('aria-label', prefix === ':' ? say.command : say.search);
    return close;
  }
}

type SkipFirst<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;
