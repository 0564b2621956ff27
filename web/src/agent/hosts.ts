// Edits the allowed hosts of a program, and reads the server's errors about them.
import type { SaveState } from '../draft/session';

/** Returns the server's errors about hosts, each with the entry to which it refers. */
export function hostProblems(save: SaveState, hosts: readonly string[]): string[] {
  if (save.kind !== 'refused') return [];
  return save.fields
    .filter(({ pointer }) => pointer === '/capabilities/hosts' || pointer.startsWith('/capabilities/hosts/'))
    .map(({ pointer, message }) => {
      const index = Number(pointer.split('/')[3] ?? Number.NaN);
      const host = hosts[index];
      return host === undefined ? message : `${host} ${message}`;
    });
}

/** Returns the list with the denied host at the end. It returns the list unchanged if the host is in it. */
export const withHosts = (hosts: readonly string[], more: readonly string[]): string[] => [
  ...hosts,
  ...more.filter((host) => !hosts.includes(host)),
];
