// Changes to an agent's set of files, as changes to its draft.
import type { Draft, Files } from '../../api/types';

export function addFile(files: Files, path: string): Partial<Draft> {
  return { files: { ...files, [path]: '' } };
}

/** Renames a file, or every file of a folder; the entrypoint follows. */
export function renamePath(files: Files, entrypoint: string, from: string, to: string): Partial<Draft> {
  const moved = (path: string): string =>
    path === from ? to : path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
  return {
    files: Object.fromEntries(Object.entries(files).map(([path, content]) => [moved(path), content])),
    entrypoint: moved(entrypoint),
  };
}

export function removePath(files: Files, path: string): Partial<Draft> {
  return { files: Object.fromEntries(Object.entries(files).filter(([p]) => p !== path && !p.startsWith(`${path}/`))) };
}
