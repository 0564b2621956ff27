import { describe, expect, test } from 'vitest';
import { declaredBy, nameFault, quotaRows } from './words';

const at = (agent: string) => ({ agentId: agent, agent, version: '1.0.0' });

describe('secrets in words', () => {
  test('who declares one', () => {
    expect(declaredBy([])).toBe('No version declares it');
    expect(declaredBy([at('a')])).toBe('Declared by a@1.0.0');
    expect(declaredBy(['a', 'b', 'c', 'd', 'e', 'f'].map(at))).toBe(
      'Declared by a@1.0.0, b@1.0.0, c@1.0.0, d@1.0.0 and 2 more',
    );
  });

  test('quotas say what is used, and of what', () => {
    const none = { concurrentRuns: 0, runsPerDay: 0, cpuSecondsPerDay: 0, storageBytes: 0 };
    const rows = quotaRows({
      limits: { ...none, runsPerDay: 1000, storageBytes: 1 << 20 },
      own: {},
      used: { concurrentRuns: 2, runsPerDay: 1200, cpuSecondsPerDay: 1.4, storageBytes: 2048 },
      until: '2026-11-23T00:00:00Z',
    });
    expect(rows.map((r) => r.words)).toEqual(['2, no limit', '1,200 of 1,000', '1 s, no limit', '2 KiB of 1 MiB']);
  });

  test('names', () => {
    expect(nameFault('API_KEY')).toBeUndefined();
    for (const name of ['', '1A', 'a-b', 'x'.repeat(65)]) expect(nameFault(name)).toContain('letters');
  });
});
