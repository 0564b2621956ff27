// Escapes scripts to ASCII. A browser stores a script with one wide character at two bytes per character, once per
// worker. This runs after minification, which writes characters unescaped, and before file names are hashed.
import type { Plugin } from 'vite';

export function asciiScripts(): Plugin {
  return {
    name: 'ascii-scripts',
    apply: 'build',
    augmentChunkHash: () => 'in ASCII',
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle)) if (output.type === 'chunk') output.code = inAscii(output.code);
    },
  };
}

const wider = /[^\0-\x7f]/g;
const escaped = /(?<!\\)(?:\\\\)*\\[^\0-\x7f]/;

/**
 * Returns the script in ASCII. It does not support scripts that escape a wide character with a backslash or read a raw
 * template.
 */
export function inAscii(code: string): string {
  if (code.search(wider) < 0) return code;
  if (escaped.test(code) || code.includes('String.raw`')) throw new Error('cannot be written in ASCII');
  return code.replace(wider, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
