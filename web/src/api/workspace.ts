// Which workspace the screens are about. With one there is nothing to choose, and nothing is said to the server.
const kept = 'atelier.workspace';

let chosen: string | undefined;

/** The name of the chosen one; '' is the first of one's own. A new tab begins where the last choice was made. */
export const chosenWorkspace = (): string =>
  (chosen ??= sessionStorage.getItem(kept) ?? localStorage.getItem(kept) ?? '');

export function chooseWorkspace(name: string): void {
  chosen = name;
  sessionStorage.setItem(kept, name);
  localStorage.setItem(kept, name);
}

/** An address that is opened without headers of ours: of a socket, or of a file to save. */
export const inWorkspace = (path: string): string =>
  chosenWorkspace() === ''
    ? path
    : `${path}${path.includes('?') ? '&' : '?'}workspace=${encodeURIComponent(chosenWorkspace())}`;
