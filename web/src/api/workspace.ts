// Stores the selected workspace. If a user has only one workspace, the Studio sends no workspace header.
import { keep, ofTab, readStored } from './storage';

const kept = 'atelier.workspace';

let chosen: string | undefined;

/**
 * The name of the selected workspace; '' means the user's first workspace. A new tab starts with the last selection.
 */
export const chosenWorkspace = (): string =>
  (chosen ??= readStored(kept, String, ofTab) ?? readStored(kept, String) ?? '');

export function chooseWorkspace(name: string): void {
  chosen = name;
  keep(kept, name, ofTab);
  keep(kept, name);
}

/** Returns a URL that contains the workspace. Sockets and downloads need it, because they cannot send headers. */
export const inWorkspace = (path: string): string =>
  chosenWorkspace() === ''
    ? path
    : `${path}${path.includes('?') ? '&' : '?'}workspace=${encodeURIComponent(chosenWorkspace())}`;
