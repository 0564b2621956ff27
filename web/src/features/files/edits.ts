// Edits the files of an agent. Each edit is an edit of the agent's draft.
import type { Draft, FileContent, Files } from '../../api/types';
import { moveFiles } from './imports';

export function addFile(files: Files, path: string): Partial<Draft> {
  return { files: { ...files, [path]: '' } };
}

export function addFiles(files: Files, added: Record<string, FileContent>): Partial<Draft> {
  return { files: { ...files, ...added } };
}

/** Renames or moves a file or a folder and updates entrypoint and imports. */
export function renamePath(files: Files, entrypoint: string, from: string, to: string): Partial<Draft> {
  const moved = (path: string): string =>
    path === from ? to : path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
  return { files: moveFiles(files, moved), entrypoint: moved(entrypoint) };
}

export function removePath(files: Files, path: string): Partial<Draft> {
  return { files: Object.fromEntries(Object.entries(files).filter(([p]) => p !== path && !p.startsWith(`${path}/`))) };
}
