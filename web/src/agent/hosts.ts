// The hosts that a program may reach: what is wrong with them, and those that are added.
import type { SaveState } from '../draft/session';

/** What the server said about the hosts, each with the entry it means. */
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

/** The list with what was denied added, unless it is there. */
export const withHosts = (hosts: readonly string[], more: readonly string[]): string[] => [
  ...hosts,
  ...more.filter((host) => !hosts.includes(host)),
];
