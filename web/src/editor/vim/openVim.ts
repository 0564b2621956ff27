// Loads Vim's keymap when the user selects it. The Studio's shortcuts take precedence.
import { initVimMode, VimMode } from 'monaco-vim';
import { runCommand } from '../../state/commands';
import type { monaco } from '../monaco';
import { ModeLine } from './modeLine';

const { Vim } = VimMode;
// The draft is saved automatically; `:w` saves it immediately.
const write = (): void => runCommand('agent.save');
const quit = (): void => runCommand('tab.close');
Vim.defineEx('write', 'w', write);
Vim.defineEx('quit', 'q', quit);
Vim.defineEx('wq', 'wq', () => {
  write();
  quit();
});

export function openVim(editor: monaco.editor.IStandaloneCodeEditor, line: HTMLElement): monaco.IDisposable {
  const adapter = initVimMode(editor, line, ModeLine);
  return {
    dispose: () => {
      adapter.dispose();
      editor.updateOptions({ cursorStyle: 'line', cursorBlinking: 'blink', cursorWidth: 0 });
    },
  };
}
