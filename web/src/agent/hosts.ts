// The allowed hosts of a program: their errors and additions.
import type { SaveState } from '../draft/session';

/** The server's errors about hosts, each with the entry it refers to. */
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

/** Returns the list with the denied host added, unless it is there already. */
export const withHosts = (hosts: readonly string[], more: readonly string[]): string[] => [
  ...hosts,
  ...more.filter((host) => !hosts.includes(host)),
];
