// Which workspace the screens are about. With one there is nothing to choose, and nothing is said to the server.
import { keep, ofTab, readKept } from './storage';

const kept = 'atelier.workspace';

let chosen: string | undefined;

/** The name of the chosen one; '' is the first of one's own. A new tab begins where the last choice was made. */
export const chosenWorkspace = (): string => (chosen ??= readKept(kept, String, ofTab) ?? readKept(kept, String) ?? '');

export function chooseWorkspace(name: string): void {
  chosen = name;
  keep(kept, name, ofTab);
  keep(kept, name);
}

/** An address that is opened without headers of ours: of a socket, or of a file to save. */
export const inWorkspace = (path: string): string =>
  chosenWorkspace() === ''
    ? path
    : `${path}${path.includes('?') ? '&' : '?'}workspace=${encodeURIComponent(chosenWorkspace())}`;
