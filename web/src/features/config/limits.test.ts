import { describe, expect, it } from 'vitest';
import { ceilingText, inUnit, limitFields, readLimit } from './limits';

const field = (key: string) => limitFields.find((f) => f.key === key) ?? fail();
function fail(): never {
  throw new Error('no such limit');
}

describe('limits', () => {
  const cases: Record<string, { key: string; text: string; ceiling: number; want: unknown }> = {
    seconds: { key: 'timeoutMs', text: '2.5', ceiling: 600_000, want: { ok: true, wire: 2500 } },
    'a decimal comma': { key: 'timeoutMs', text: '0,5', ceiling: 600_000, want: { ok: true, wire: 500 } },
    mebibytes: { key: 'memoryBytes', text: '64', ceiling: 2 ** 31, want: { ok: true, wire: 67_108_864 } },
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
    zero: { key: 'processes', text: '0', ceiling: 512, want: { ok: false, message: 'Must be a number above 0.' } },
  };
  for (const [name, { key, text, ceiling, want }] of Object.entries(cases)) {
    it(name, () => expect(readLimit(field(key), text, ceiling)).toEqual(want));
  }
  it('shows the wire in the unit', () => expect(inUnit(field('memoryBytes'), 268_435_456)).toBe('256'));
  it('says a small part of a unit exactly', () => expect(inUnit(field('outputBytes'), 65_536)).toBe('0.0625'));
  it('says a ceiling in the unit that is typed', () =>
    expect(ceilingText(field('outputBytes'), 16_777_216)).toBe('up to 16 MiB'));
});
