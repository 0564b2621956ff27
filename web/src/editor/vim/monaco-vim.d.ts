// Declares the types of ex commands, which monaco-vim does not.
import 'monaco-vim';

declare module 'monaco-vim' {
  namespace VimMode {
    const Vim: { defineEx(name: string, prefix: string, run: () => void): void };
  }
}
