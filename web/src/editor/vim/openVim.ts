// Vim's keys, fetched when somebody has chosen them. Keys of the Studio's commands come first, as everywhere.
import { initVimMode, VimMode } from 'monaco-vim';
import { runCommand } from '../../state/commands';
import type { monaco } from '../monaco';
import { ModeLine } from './modeLine';

const { Vim } = VimMode;
// The draft is saved by itself; who types it means to be sure.
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
