// Converts paths to a tree, and the tree to a list of rows.
import { pathFaults as say } from '../../texts/files';

export interface TreeRow {
  path: string;
  name: string;
  level: number;
  kind: 'folder' | 'file';
  open: boolean;
  setSize: number;
  position: number;
}

interface Folder {
  folders: Map<string, Folder>;
  files: string[];
}

export function rowsOf(paths: string[], closed: ReadonlySet<string>): TreeRow[] {
  const root: Folder = { folders: new Map(), files: [] };
  for (const path of paths) {
    const parts = path.split('/');
    const name = parts.pop() ?? path;
    let at = root;
    for (const part of parts) {
      let next = at.folders.get(part);
      if (!next) at.folders.set(part, (next = { folders: new Map(), files: [] }));
      at = next;
    }
    at.files.push(name);
  }
  return flatten(root, '', 1, closed);
}

function flatten(folder: Folder, prefix: string, level: number, closed: ReadonlySet<string>): TreeRow[] {
  const names = [...folder.folders.keys()].sort();
  const files = [...folder.files].sort();
  const setSize = names.length + files.length;
  const rows: TreeRow[] = [];
  names.forEach((name, i) => {
    const path = prefix + name;
    const open = !closed.has(path);
    rows.push({ path, name, level, kind: 'folder', open, setSize, position: i + 1 });
    const inside = folder.folders.get(name);
    if (open && inside) rows.push(...flatten(inside, `${path}/`, level + 1, closed));
  });
  files.forEach((name, i) => {
    rows.push({ path: prefix + name, name, level, kind: 'file', open: false, setSize, position: names.length + i + 1 });
  });
  return rows;
}

/** Returns the reason why a path is invalid, or undefined for a valid path. The server checks the path again. */
export function pathFault(path: string, taken: readonly string[]): string | undefined {
  if (path === '') return say.aNameIsNeeded;
  if (path.startsWith('/') || path.endsWith('/') || path.includes('//')) return say.nameBetweenSlashes;
  if (path.split('/').some((part) => part === '.' || part === '..')) return say.staysInside;
  if (path.split('/').some((part) => part.startsWith('.'))) return say.noLeadingDot;
  const key = folded(path);
  if (key === 'agent.yaml' || key === 'input.json') return say.isReserved(key);
  if (/[\\:*?"<>|]/.test(path) || Array.from(path).some((c) => c < ' ')) return say.onlyLetters;
  if (taken.includes(path)) return say.isThereAlready(path);
  const other = taken.find((t) => folded(t) === key);
  if (other !== undefined) return say.differsInCase(other);
  if (taken.some((t) => folded(t).startsWith(`${key}/`) || key.startsWith(`${folded(t)}/`)))
    return say.cannotBeAFolderToo;
  return undefined;
}

/** Returns the form in which two paths must be different. Some file systems ignore case and compose accents. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase();

export type Severity = 'error' | 'warning';

/** Returns the most severe problem of each file and of the folders that contain it. */
export function severitiesOf(
  problems: readonly { path: string; severity: Severity | 'info' }[],
): ReadonlyMap<string, Severity> {
  const found = new Map<string, Severity>();
  for (const { path, severity } of problems) {
    if (severity === 'info') continue; // an opinion of a language model is not a problem of the file
    const parts = path.split('/');
    for (let n = parts.length; n > 0; n--) {
      const at = parts.slice(0, n).join('/');
      if (found.get(at) !== 'error') found.set(at, severity);
    }
  }
  return found;
}
