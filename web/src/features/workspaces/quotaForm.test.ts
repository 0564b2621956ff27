import { expect, test } from 'vitest';
import { formOf, readForm } from './quotaForm';

const empty = { concurrentRuns: '', runsPerDay: '', cpuSecondsPerDay: '', storageBytes: '' };

test('an empty field means the server’s default, and 0 means unlimited', () => {
  expect(formOf({})).toEqual(empty);
  expect(readForm(empty)).toEqual({ own: {}, faults: {} });
  expect(readForm({ ...empty, runsPerDay: ' 0 ', concurrentRuns: '12' }).own).toEqual({
    runsPerDay: 0,
    concurrentRuns: 12,
  });
});

test.each([
  [0, '0'],
  [1, '1 B'],
  [1_500_000, '1500000 B'],
  [3 * 1024 ** 2, '3 MiB'],
  [1536 * 1024 ** 2, '1536 MiB'],
  [2 * 1024 ** 4, '2 TiB'],
])('%d bytes keep their number through the form', (storageBytes, text) => {
  const form = formOf({ storageBytes });
  expect(form.storageBytes).toBe(text);
  expect(readForm(form)).toEqual({ own: { storageBytes }, faults: {} });
});

test('units are read as people write them', () => {
  for (const [text, value] of [
    ['1.5 GiB', 1.5 * 1024 ** 3],
    ['10gib', 10 * 1024 ** 3],
    ['700', 700],
  ] as const) {
    expect(readForm({ ...empty, storageBytes: text }).own).toEqual({ storageBytes: value });
  }
});

test('each field says for itself what is wrong', () => {
  const { own, faults } = readForm({
    concurrentRuns: '-1',
    runsPerDay: '1.5',
    cpuSecondsPerDay: '99999999999999999999',
    storageBytes: '2 GB',
  });
  expect(own).toEqual({});
  expect(Object.keys(faults)).toEqual(['concurrentRuns', 'runsPerDay', 'cpuSecondsPerDay', 'storageBytes']);
  expect(faults.storageBytes).toContain('such as 2 GiB');
});
