// Scripts are written in ASCII: a browser holds one with a single wider letter at two bytes for each of its letters, and
// every worker holds its own. That is done once they are small, since what makes them small writes letters as they are;
// their names, by which browsers keep them for good, tell that it was.
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

/** The same script in ASCII. It is not for one in which a backslash escapes a wider letter, or that takes a text raw. */
export function inAscii(code: string): string {
  if (code.search(wider) < 0) return code;
  if (escaped.test(code) || code.includes('String.raw`')) throw new Error('cannot be written in ASCII');
  return code.replace(wider, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
