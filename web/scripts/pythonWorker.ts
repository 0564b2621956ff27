// Shrinks the Python worker: removes texts in fourteen languages and types of packages that programs cannot import,
// then escapes it to ASCII. A browser stores a script with one wide character at two bytes per character, once per
// worker. All of it happens before the file name is hashed, because browsers cache files by name.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { inAscii } from './asciiScripts';

const address = /\/(pyright\.worker\.js)\?url$/;

export function shortPythonWorker(): Plugin {
  return {
    name: 'short-python-worker',
    apply: 'build',
    enforce: 'pre',
    load(id) {
      const name = address.exec(id)?.[1];
      if (name === undefined) return null;
      const source = inEnglish(withoutPackages(readFileSync(id.replace('?url', ''), 'utf8')));
      const file = this.emitFile({ type: 'asset', name, source });
      return `export default import.meta.ROLLUP_FILE_URL_${file};`;
    },
  };
}

const translations = /(\.exports=JSON\.parse\(')(\{"CodeAction":(?:[^'\\]|\\.)*)('\))/g;
// The English texts are the ones with notes for translators.
const original = /^\{"CodeAction":\{"\w+":\{"message":/;

// Matches the path and the text of a type file of a package.
const packaged = /"\/typeshed\/stubs\/[^"\\]+":(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'),/g;

/** Returns the script without types of packages outside the standard library. */
export function withoutPackages(code: string): string {
  const short = code.replace(packaged, '');
  if (short === code || short.includes('"/typeshed/stubs/') || !short.includes('"/typeshed/stdlib/'))
    throw new Error("the types of Python's worker are not where they were");
  return short;
}

export function inEnglish(code: string): string {
  const kept = { english: 0, others: 0 };
  const short = code.replace(translations, (whole, before: string, texts: string, after: string) => {
    kept[original.test(texts) ? 'english' : 'others']++;
    return original.test(texts) ? whole : `${before}{}${after}`;
  });
  if (kept.english !== 1 || kept.others === 0)
    throw new Error(`the texts of Python's worker are not where they were: ${JSON.stringify(kept)}`);
  return inAscii(short);
}
