// Secrets and quotas in words.
import type { Quotas, Secret } from '../../api/types';
import { bytes } from '../../texts/format';

const most = 4;

/** Which versions declare a secret, the first few by name. */
export function declaredBy(usedBy: Secret['usedBy']): string {
  if (usedBy.length === 0) return 'No version declares it';
  const shown = usedBy.slice(0, most).map(({ agent, version }) => `${agent}@${version}`);
  const more = usedBy.length - shown.length;
  return `Declared by ${shown.join(', ')}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}`;
}

export interface QuotaRow {
  name: string;
  used: number;
  limit: number;
  words: string;
}

const count = (n: number): string => Math.round(n).toLocaleString('en');

/** Each quota with what is used; a limit of 0 is none. */
export function quotaRows({ limits, used }: Quotas): QuotaRow[] {
  const row = (name: string, taken: number, limit: number, unit: (n: number) => string): QuotaRow => ({
    name,
    used: taken,
    limit,
    words: limit > 0 ? `${unit(taken)} of ${unit(limit)}` : `${unit(taken)}, no limit`,
  });
  const rows = [
    row('Runs at once', used.concurrentRuns, limits.concurrentRuns, count),
    row('Runs today', used.runsPerDay, limits.runsPerDay, count),
    row('Processor time today', used.cpuSecondsPerDay, limits.cpuSecondsPerDay, (n) => `${count(n)} s`),
    row('Storage', used.storageBytes, limits.storageBytes, bytes),
  ];
  return rows;
}

/** Why a name cannot be one of a secret, or undefined. The server has the last word. */
export function nameFault(name: string): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name)
    ? undefined
    : 'A name has up to 64 letters, digits and _, and does not begin with a digit.';
}
