// Python's worker brings what the Studio has no use for: its texts in fourteen languages, and the types of packages that no
// program can import here. They go, and what is left is written in ASCII: a browser holds a script with a single wider
// letter at two bytes for each, once for every worker.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const translations = /(\.exports=JSON\.parse\(')(\{"CodeAction":(?:[^'\\]|\\.)*)('\))/g;
// The English texts are the ones that tell translators what they mean.
const original = /^\{"CodeAction":\{"\w+":\{"message":/;

// A file of types by its path, and its text.
const packaged = /"\/typeshed\/stubs\/[^"\\]+":(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'),/g;

/** The same script without the types of what does not come with Python. */
export function withoutPackages(code) {
  const short = code.replace(packaged, '');
  if (short === code || short.includes('"/typeshed/stubs/') || !short.includes('"/typeshed/stdlib/'))
    throw new Error("the types of Python's worker are not where they were");
  return short;
}

export function inEnglish(code) {
  const kept = { english: 0, others: 0 };
  const short = code.replace(translations, (whole, before, texts, after) => {
    kept[original.test(texts) ? 'english' : 'others']++;
    return original.test(texts) ? whole : `${before}{}${after}`;
  });
  if (kept.english !== 1 || kept.others === 0)
    throw new Error(`the texts of Python's worker are not where they were: ${JSON.stringify(kept)}`);
  return inAscii(short);
}

/** The same script in ASCII. It is not for a script in which a backslash stands before a wider letter, or String.raw. */
export function inAscii(code) {
  if (/\\[^\0-\x7f]/.test(code) || code.includes('String.raw')) throw new Error('cannot be written in ASCII');
  return code.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const assets = new URL('../dist/app/assets/', import.meta.url).pathname;
  const workers = readdirSync(assets).filter((name) => /^pyright\.worker-.*\.js$/.test(name));
  if (workers.length !== 1) throw new Error(`there should be one worker for Python, not ${workers.length}`);
  for (const name of workers) {
    const path = join(assets, name);
    writeFileSync(path, inEnglish(withoutPackages(readFileSync(path, 'utf8'))));
  }
}
