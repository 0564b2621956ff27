// Updates imports after a file was renamed or moved: relative imports in JavaScript and TypeScript, and Python modules.
// An import that cannot be resolved from the text does not change. The editor marks imports that no longer resolve.
import type { FileContent, Files } from '../../api/types';

/** Returns the files under their new paths, with updated imports. */
export function moveFiles(files: Files, moved: (path: string) => string): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [moved(path), follow(path, content, files, moved)]),
  );
}

type Moved = (path: string) => string;

function follow(path: string, content: FileContent, files: Files, moved: Moved): FileContent {
  if (typeof content !== 'string') return content;
  if (/\.[cm]?[jt]s$/.test(path)) return followScript(path, content, files, moved);
  return path.endsWith('.py') ? followPython(path, content, files, moved) : content;
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const specifier = /((?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*)(['"])(\.{1,2}\/[^'"\n]*)\2/g;
// The extensions that are tried for the path of an import, in this order.
const endings = ['', '.ts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];

function followScript(path: string, text: string, files: Files, moved: Moved): string {
  const home = folderOf(moved(path));
  return text.replace(specifier, (all: string, before: string, quote: string, spec: string) => {
    const base = join(folderOf(path), spec);
    // In a .ts file, the path of an import may end in .js.
    const script = base.replace(/\.js$/, '.ts');
    const target =
      endings.map((ending) => base + ending).find((p) => p in files) ?? (script in files ? script : undefined);
    if (target === undefined || (moved(path) === path && moved(target) === target)) return all;
    return before + quote + written(relative(home, moved(target)), spec, target) + quote;
  });
}

/**
 * Writes the path in the style of the old import: with an extension, without one, or as the folder of an index file.
 */
function written(to: string, spec: string, target: string): string {
  if (/\.js$/.test(spec) && target.endsWith('.ts')) return to.replace(/\.ts$/, '.js');
  if (target.endsWith(spec.slice(spec.lastIndexOf('/') + 1))) return to;
  if (/\/index\.\w+$/.test(target) && !/index$/.test(spec)) return to.replace(/\/index\.\w+$/, '');
  return to.replace(/\.\w+$/, '');
}

function join(folder: string, spec: string): string {
  const at = folder === '' ? [] : folder.split('/');
  for (const part of spec.split('/')) {
    if (part === '..') at.pop();
    else if (part !== '.' && part !== '') at.push(part);
  }
  return at.join('/');
}

function relative(from: string, to: string): string {
  const here = from === '' ? [] : from.split('/');
  const there = to.split('/');
  let shared = 0;
  while (shared < here.length && here[shared] === there[shared]) shared++;
  const up = here.slice(shared).map(() => '..');
  return [...(up.length === 0 ? ['.'] : up), ...there.slice(shared)].join('/');
}

const moduleOf = (path: string): string =>
  path
    .replace(/\.py$/, '')
    .replace(/(^|\/)__init__$/, '')
    .replaceAll('/', '.');

function followPython(path: string, text: string, files: Files, moved: Moved): string {
  const renamed = new Map<string, string>();
  for (const other of Object.keys(files))
    if (other.endsWith('.py') && moved(other) !== other) renamed.set(moduleOf(other), moduleOf(moved(other)));
  const here = folderOf(path).replaceAll('/', '.');
  const went = folderOf(moved(path)).replaceAll('/', '.');
  if (renamed.size === 0) return text;
  return text
    .split('\n')
    .map((line) => fromLine(line, here, went, renamed) ?? importLine(line, renamed) ?? usesOf(line, renamed))
    .join('\n');
}

/** Handles `from x import a, b as c`. x may be relative or absolute. */
function fromLine(line: string, here: string, went: string, renamed: Map<string, string>): string | undefined {
  const match = /^(\s*)from\s+(\.*)([\w.]*)\s+import\s+(.*)$/.exec(line);
  if (!match) return undefined;
  const [, indent = '', dots = '', name = '', names = ''] = match;
  const module = dots === '' ? name : absolute(here, dots.length, name);
  const now = renamed.get(module);
  if (now !== undefined || (dots !== '' && here !== went && name !== '')) {
    return `${indent}from ${spelled(now ?? module, dots, went)} import ${names}`;
  }
  // An imported name may also be a module.
  const member = /^(\w+)$/.exec(names.trim())?.[1];
  const file = member === undefined ? undefined : renamed.get(module === '' ? member : `${module}.${member}`);
  if (member === undefined || file === undefined) return line;
  const cut = file.lastIndexOf('.');
  const [parent, last] = cut < 0 ? ['', file] : [file.slice(0, cut), file.slice(cut + 1)];
  if (parent === '') return `${indent}import ${last} as ${member}`;
  const from = parent === module && here === went && dots !== '' ? dots + name : parent;
  return `${indent}from ${from} import ${last === member ? member : `${last} as ${member}`}`;
}

/** A relative import stays relative if the module is still in the same folder. */
function spelled(module: string, dots: string, home: string): string {
  const sibling = home === '' ? !module.includes('.') : module.startsWith(`${home}.`);
  return dots === '.' && sibling ? `.${home === '' ? module : module.slice(home.length + 1)}` : module;
}

function absolute(here: string, level: number, name: string): string {
  const parts = here === '' ? [] : here.split('.');
  const base = parts.slice(0, Math.max(0, parts.length - (level - 1)));
  return [...base, ...(name === '' ? [] : [name])].join('.');
}

/** Handles `import x`. The local name stays the same. */
function importLine(line: string, renamed: Map<string, string>): string | undefined {
  const match = /^(\s*)import\s+([\w.]+)(\s+as\s+\w+)?\s*(#.*)?$/.exec(line);
  if (!match) return undefined;
  const [, indent = '', module = '', as = '', comment = ''] = match;
  const now = renamed.get(module);
  if (now === undefined) return line;
  const alias = as !== '' || module.includes('.') ? as : ` as ${module}`;
  return `${indent}import ${now}${alias}${comment === '' ? '' : ` ${comment}`}`;
}

/** Handles uses such as `lib.util.add(1)` after `import lib.util`. */
function usesOf(line: string, renamed: Map<string, string>): string {
  let text = line;
  for (const [was, now] of renamed)
    if (was.includes('.'))
      text = text.replace(new RegExp(`(?<![\\w.])${was.replaceAll('.', '\\.')}(?=\\.\\w)`, 'g'), now);
  return text;
}
