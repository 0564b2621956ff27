import { describe, expect, it } from 'vitest';
import { inUnit, limitFields, limitText, readLimit, unitOf, withLimitsNamed } from './limits';

const field = (key: string) => limitFields.find((f) => f.key === key) ?? fail();
function fail(): never {
  throw new Error('no such limit');
}

describe('limits', () => {
  const cases: Record<string, { key: string; text: string; ceiling: number; want: unknown }> = {
    seconds: { key: 'timeoutMs', text: '2.5', ceiling: 600_000, want: { ok: true, wire: 2500 } },
    'a decimal comma': { key: 'timeoutMs', text: '0,5', ceiling: 600_000, want: { ok: true, wire: 500 } },
    'seconds with their unit': { key: 'timeoutMs', text: '5 s', ceiling: 600_000, want: { ok: true, wire: 5000 } },
    mebibytes: { key: 'memoryBytes', text: '64', ceiling: 2 ** 31, want: { ok: true, wire: 67_108_864 } },
    'another unit': { key: 'memoryBytes', text: '64 kib', ceiling: 2 ** 31, want: { ok: true, wire: 65_536 } },
    'above the ceiling': {
      key: 'timeoutMs',
      text: '601',
      ceiling: 600_000,
      want: { ok: false, message: 'At most 600 s.' },
    },
    'no number': {
      key: 'processes',
      text: 'x',
      ceiling: 512,
      want: { ok: false, message: 'Must be a number above 0.' },
    },
    'a unit of something else': {
      key: 'memoryBytes',
      text: '5 s',
      ceiling: 2 ** 31,
      want: { ok: false, message: 'Must be a number above 0.' },
    },
    'no text, which leaves it to the server': {
      key: 'processes',
      text: ' ',
      ceiling: 512,
      want: { ok: true, wire: 0 },
    },
    zero: { key: 'processes', text: '0', ceiling: 512, want: { ok: false, message: 'Must be a number above 0.' } },
  };
  for (const [name, { key, text, ceiling, want }] of Object.entries(cases)) {
    it(name, () => expect(readLimit(field(key), unitOf(field(key), ceiling), text, ceiling)).toEqual(want));
  }
  it.each([
    ['memoryBytes', 268_435_456, '256 MiB'],
    ['outputBytes', 65_536, '64 KiB'],
    ['outputBytes', 512, '0.5 KiB'],
    ['memoryBytes', 2 ** 31, '2048 MiB'],
    ['timeoutMs', 500, '0.5 s'],
    ['recursionDepth', 10_000, '10,000'],
  ])('%s of %d', (key, wire, text) => expect(limitText(field(key), wire)).toBe(text));
  it('are typed exactly', () => expect(inUnit(unitOf(field('memoryBytes'), 1_600_000), 1_600_000)).toBe('1.525879'));
});

describe('a sentence that names limits', () => {
  it.each([
    [
      'Raise limits.timeoutMs (now 30000) or do less in one run.',
      'Raise the limit “Timeout” (now 30 s) or do less in one run.',
    ],
    ['Raise limits.outputBytes (now 64 KiB) or print less.', 'Raise the limit “Output” (now 64 KiB) or print less.'],
    ['Raise limits.recursionDepth (now 1000).', 'Raise the limit “Recursion” (now 1,000).'],
    ['Say limits.other (now 1).', 'Say limits.other (now 1).'],
  ])('%s', (said, shown) => expect(withLimitsNamed(said)).toBe(shown));
});
