// Secrets and quotas in words.
import type { Quotas, Secret } from '../../api/types';
import { bytes, number } from '../../texts/format';
import { words as say } from '../../texts/secrets';

const most = 4;

/** Which versions declare a secret, the first few by name. */
export function declaredBy(usedBy: Secret['usedBy']): string {
  if (usedBy.length === 0) return say.noVersionDeclaresIt;
  const shown = usedBy.slice(0, most).map(({ agent, version }) => `${agent}@${version}`);
  return say.declaredBy(shown, usedBy.length - shown.length);
}

export interface QuotaRow {
  name: string;
  used: number;
  limit: number;
  words: string;
}

/** Each quota with what is used; a limit of 0 is none. */
export function quotaRows({ limits, used }: Quotas): QuotaRow[] {
  const row = (name: string, taken: number, limit: number, unit: (n: number) => string): QuotaRow => ({
    name,
    used: taken,
    limit,
    words: limit > 0 ? say.usedOf(unit(taken), unit(limit)) : say.noLimit(unit(taken)),
  });
  const rows = [
    row(say.runsAtOnce, used.concurrentRuns, limits.concurrentRuns, number),
    row(say.runsToday, used.runsPerDay, limits.runsPerDay, number),
    row(say.processorTimeToday, used.cpuSecondsPerDay, limits.cpuSecondsPerDay, say.processorTime),
    row(say.storage, used.storageBytes, limits.storageBytes, bytes),
  ];
  return rows;
}

/** Why a name cannot be one of a secret, or undefined. The server has the last word. */
export function nameFault(name: string): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name) ? undefined : say.notAName;
}

/** What an agent is given under a name: its own goes before the one of the workspace. */
export const valueOf = (all: Secret[], name: string, agentId: string): Secret | undefined =>
  all.find((s) => s.name === name && s.agentId === agentId) ??
  all.find((s) => s.name === name && s.agentId === undefined);
