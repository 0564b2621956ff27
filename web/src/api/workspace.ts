// The chosen workspace. A user with one workspace has no choice and sends no header.
import { keep, ofTab, readStored } from './storage';

const kept = 'atelier.workspace';

let chosen: string | undefined;

/** The name of the chosen workspace; '' is the user's first. A new tab starts with the last choice. */
export const chosenWorkspace = (): string =>
  (chosen ??= readStored(kept, String, ofTab) ?? readStored(kept, String) ?? '');

export function chooseWorkspace(name: string): void {
  chosen = name;
  keep(kept, name, ofTab);
  keep(kept, name);
}

/** Returns an address that works without our headers, for sockets and downloads. */
export const inWorkspace = (path: string): string =>
  chosenWorkspace() === ''
    ? path
    : `${path}${path.includes('?') ? '&' : '?'}workspace=${encodeURIComponent(chosenWorkspace())}`;
