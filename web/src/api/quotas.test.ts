import { expect, test } from 'vitest';
import { quotaRows } from './quotas';

test('each quota row shows the usage and the limit', () => {
  const none = { concurrentRuns: 0, runsPerDay: 0, cpuSecondsPerDay: 0, storageBytes: 0 };
  const rows = quotaRows({
    limits: { ...none, runsPerDay: 1000, storageBytes: 1 << 20 },
    own: {},
    used: { concurrentRuns: 2, runsPerDay: 1200, cpuSecondsPerDay: 1.4, storageBytes: 2048 },
    until: '2026-11-23T00:00:00Z',
  });
  expect(rows.map((r) => r.summary)).toEqual(['2, no limit', '1,200 of 1,000', '1.40 s, no limit', '2 KiB of 1 MiB']);
});
