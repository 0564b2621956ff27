// monaco-vim has no types for ex commands.
import 'monaco-vim';

declare module 'monaco-vim' {
  namespace VimMode {
    const Vim: { defineEx(name: string, prefix: string, run: () => void): void };
  }
}
