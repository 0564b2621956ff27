import { describe, expect, it } from 'vitest';
import { Sequence } from './sequence';

const all = [{ keys: 'g s' }, { keys: 'Mod+S' }, { keys: '?' }];

/** Returns the command of each key press, given at these times, some in elements that use letters. */
function started(...presses: [key: string, at: number, taken?: 'taken'][]): (string | undefined)[] {
  const sequence = new Sequence();
  const held = { code: '', ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, altGraph: false };
  return presses.map(
    ([key, timeStamp, taken]) => sequence.next(all, { ...held, key, timeStamp }, taken !== undefined, false)?.keys,
  );
}

describe('keys that follow each other', () => {
  it('start a command', () => expect(started(['g', 1000], ['s', 1400])).toEqual([undefined, 'g s']));
  it('must follow at once', () => expect(started(['g', 1000], ['s', 9000])).toEqual([undefined, undefined]));
  it('may have nothing between them', () =>
    expect(started(['g', 1000], ['x', 1100], ['s', 1200])).toEqual([undefined, undefined, undefined]));
  it('start again with the first key', () =>
    expect(started(['g', 1000], ['g', 1100], ['s', 1200])).toEqual([undefined, undefined, 'g s']));
  it('do not begin or end where letters are taken', () => {
    expect(started(['g', 1000, 'taken'], ['s', 1100, 'taken'])).toEqual([undefined, undefined]);
    expect(started(['g', 1000, 'taken'], ['s', 1100])).toEqual([undefined, undefined]);
    expect(started(['g', 1000], ['s', 1100, 'taken'])).toEqual([undefined, undefined]);
  });
  it('do not change single-key shortcuts', () => expect(started(['g', 1000], ['?', 1100])).toEqual([undefined, '?']));
});
