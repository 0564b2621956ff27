// monaco-vim says nothing of what it is made for: the commands behind the colon.
import 'monaco-vim';

declare module 'monaco-vim' {
  namespace VimMode {
    const Vim: { defineEx(name: string, prefix: string, run: () => void): void };
  }
}
