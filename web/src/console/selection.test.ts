import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../api/types';
import { Ring } from './ring';
import { Selection, type Filter } from './selection';

let seq = 0;
const out = (data: string, kind: 'stdout' | 'stderr' = 'stdout'): RunEvent => ({ seq: ++seq, at: '', kind, data });
const always = (): boolean => false;

function select(ring: Ring, filter: Filter, search: string): Selection {
  const selection = new Selection(ring, filter, search);
  expect(selection.advance(always)).toBe(true);
  return selection;
}
const shown = (s: Selection): number[] => Array.from({ length: s.count }, (_, i) => s.numberAt(i));

describe('Selection', () => {
  it('lets all lines through, or those of one stream', () => {
    const ring = new Ring();
    ring.append([out('a\n'), out('b\n', 'stderr'), out('c\n')]);
    expect(shown(select(ring, 'all', ''))).toEqual([1, 2, 3]);
    expect(shown(select(ring, 'stdout', ''))).toEqual([1, 3]);
    expect(select(ring, 'stdout', '').indexOf(3)).toBe(1);
    expect(shown(select(ring, 'log', ''))).toEqual([]);
  });

  it('finds words whatever their case and colour, in lines that are shown', () => {
    const ring = new Ring();
    ring.append([out('Fi\u001b[31mre\n'), out('fire\n', 'stderr'), out('water\n')]);
    expect(select(ring, 'all', 'FIRE').hits).toEqual([1, 2]);
    expect(select(ring, 'stdout', 'fire').hits).toEqual([1]);
  });

  it('looks at what came since, and again at lines that were open', () => {
    const ring = new Ring();
    ring.append([out('x\nfi'), out('err\n', 'stderr')]);
    const selection = select(ring, 'all', 'fire');
    expect(selection.hits).toEqual([]);
    ring.append([out('re')]);
    selection.advance(always);
    expect(selection.hits).toEqual([2]);
    ring.append([out('\rsmoke')]);
    selection.advance(always);
    expect(selection.hits).toEqual([]);
    ring.append([out('\rfire\nfire\n')]);
    selection.advance(always);
    expect(selection.hits).toEqual([2, 4]);
    expect([2, 3, 4].map((n) => selection.isHit(n))).toEqual([true, false, true]);
  });

  it('stops when the time is over and goes on where it was', () => {
    const ring = new Ring();
    ring.append([out('fire\n'.repeat(5000))]);
    const selection = new Selection(ring, 'stdout', 'fire');
    let turns = 1;
    while (!selection.advance(() => true)) {
      turns++;
      ring.append([out('fire\n')]); // lines added during the search count too
    }
    expect(turns).toBeGreaterThan(5);
    expect(selection.hits).toEqual(Array.from({ length: ring.length }, (_, i) => i + 1));
    expect(selection.count).toBe(ring.length);
  });

  it('removes lines that the ring dropped', () => {
    const ring = new Ring(3);
    ring.append([out('fire\nfire\n')]);
    const selection = select(ring, 'stdout', 'fire');
    ring.append([out('water\nwater\n')]);
    selection.advance(always);
    expect([shown(selection), selection.hits]).toEqual([[2, 3, 4], [2]]);
  });
});
