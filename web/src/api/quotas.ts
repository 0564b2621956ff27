import { bytes, number } from '../texts/format';
import { words as say } from '../texts/secrets';
import type { Quotas } from './types';

export interface QuotaRow {
  name: string;
  used: number;
  limit: number;
  /** The usage alone, for an unlimited quota. */
  amount: string;
  summary: string;
}

/** Returns one row per quota, with the quota's usage. A limit of 0 means no limit. */
export function quotaRows({ limits, used }: Quotas): QuotaRow[] {
  const row = (name: string, taken: number, limit: number, unit: (n: number) => string): QuotaRow => ({
    name,
    used: taken,
    limit,
    amount: unit(taken),
    summary: limit > 0 ? say.usedOf(unit(taken), unit(limit)) : say.noLimit(unit(taken)),
  });
  return [
    row(say.runsAtOnce, used.concurrentRuns, limits.concurrentRuns, number),
    row(say.runsToday, used.runsPerDay, limits.runsPerDay, number),
    row(say.processorTimeToday, used.cpuSecondsPerDay, limits.cpuSecondsPerDay, say.processorTime),
    row(say.storage, used.storageBytes, limits.storageBytes, bytes),
  ];
}
