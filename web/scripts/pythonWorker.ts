// Python's worker brings what the Studio has no use for: its texts in fourteen languages, and the types of packages that no
// program can import here. They go, and what is left is written in ASCII: a browser holds a script with a single wider
// letter at two bytes for each, once for every worker. All that is done before the file is named: browsers keep it for good
// by its name, which has to be that of what they get.
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
// The English texts are the ones that tell translators what they mean.
const original = /^\{"CodeAction":\{"\w+":\{"message":/;

// A file of types by its path, and its text.
const packaged = /"\/typeshed\/stubs\/[^"\\]+":(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'),/g;

/** The same script without the types of what does not come with Python. */
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
