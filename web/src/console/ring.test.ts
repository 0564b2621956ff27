import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../api/types';
import { lineText, Ring } from './ring';

let seq = 0;
const out = (data: string, kind: 'stdout' | 'stderr' = 'stdout'): RunEvent => ({ seq: ++seq, at: '', kind, data });
const texts = (ring: Ring): string[] => Array.from({ length: ring.length }, (_, i) => lineText(ring.at(i) ?? never()));
function never(): never {
  throw new Error('no such line');
}

describe('Ring', () => {
  const cases: Record<string, { chunks: string[]; want: string[] }> = {
    'lines over several chunks': { chunks: ['he', 'llo\nwor', 'ld\n'], want: ['hello', 'world'] },
    'empty lines count': { chunks: ['a\n\nb\n'], want: ['a', '', 'b'] },
    'a line without an end is shown': { chunks: ['a\nb'], want: ['a', 'b'] },
    'carriage return overwrites': { chunks: ['10%\r', '20%\r30%', '\n'], want: ['30%'] },
    'a line that ends in a later chunk, and whole ones after it': {
      chunks: ['a', 'b\nc\nd\ne'],
      want: ['ab', 'c', 'd', 'e'],
    },
    'a line that is empty at the border of chunks': { chunks: ['a\n', '\n', 'b\n'], want: ['a', '', 'b'] },
    'carriage return and newline end a line': { chunks: ['a\r\nb\r', '\n'], want: ['a', 'b'] },
  };
  for (const [name, { chunks, want }] of Object.entries(cases)) {
    it(name, () => {
      const ring = new Ring();
      for (const chunk of chunks) ring.append([out(chunk)]);
      expect(texts(ring)).toEqual(want);
    });
  }

  it('keeps two streams apart while their lines are open', () => {
    const ring = new Ring();
    ring.append([out('a'), out('x', 'stderr'), out('b\n'), out('y\n', 'stderr')]);
    expect(texts(ring)).toEqual(['ab', 'xy']);
  });

  it('drops the oldest lines and keeps counting', () => {
    const ring = new Ring(3);
    ring.append([out('1\n2\n3\n4\n5\n')]);
    expect(texts(ring)).toEqual(['3', '4', '5']);
    expect(ring.at(0)?.number).toBe(3);
    expect(ring.dropped).toBe(2);
  });

  it('stays bounded over a flood', () => {
    const ring = new Ring(5000);
    for (let i = 0; i < 100; i++) ring.append([out('line\n'.repeat(1000))]);
    expect(ring.length).toBe(5000);
    expect(ring.at(4999)?.number).toBe(100_000);
  });

  it('keeps every line while it grows and turns', () => {
    for (const capacity of [1000, 3000, 5000]) {
      const ring = new Ring(capacity);
      const all = Array.from({ length: 4000 }, (_, n) => (n % 3 === 0 ? `\u001b[3${n % 8}m${n}` : `${n}`));
      const text = `${all.join('\n')}\n`;
      for (let at = 0; at < text.length; at += 777) ring.append([out(text.slice(at, at + 777))]);
      expect(texts(ring)).toEqual(Array.from({ length: 4000 }, (_, n) => `${n}`).slice(-capacity));
      expect(ring.at(ring.length - 1)?.style).toEqual({ fg: 'var(--ansi-blue)' });
      expect(ring.lengthOf(ring.dropped + ring.length)).toBe(9);
    }
  });

  it('starts again after clearing, also in the middle of a line', () => {
    const ring = new Ring();
    ring.append([out('\u001b[31ma\nb')]);
    ring.clear();
    ring.append([out('c\n')]);
    expect(texts(ring)).toEqual(['c']);
    expect(ring.at(0)).toMatchObject({ number: 1, style: {} });
  });

  it('tells its listeners of every change', () => {
    const ring = new Ring();
    const told: number[] = [];
    const forget = ring.subscribe(() => told.push(ring.length));
    ring.append([out('a\nb\n')]);
    ring.clear();
    forget();
    ring.system('x');
    expect(told).toEqual([2, 0]);
  });

  it('shows progress as one moving line', () => {
    const ring = new Ring();
    const progress = (done: number): RunEvent => ({ seq: ++seq, at: '', kind: 'progress', data: { done, total: 3 } });
    ring.append([progress(1), progress(2), out('x\n'), progress(3)]);
    expect(texts(ring)).toEqual(['2 of 3', 'x', '3 of 3']);
  });

  it('carries a colour into the next line of the same stream', () => {
    const ring = new Ring();
    ring.append([out('\u001b[31mred\nstill\n')]);
    expect(ring.at(1)?.style).toEqual({ fg: 'var(--ansi-red)' });
  });

  it('tells what became of requests to the network', () => {
    const ring = new Ring();
    const request = (decision: 'allowed' | 'denied' | 'failed', host = 'api.example.com'): RunEvent => ({
      seq: ++seq,
      at: '',
      kind: 'egress',
      data: { host, port: host === '' ? 0 : 443, decision, rule: 'capabilities.hosts', bytes: 1234, ms: 30.4 },
    });
    ring.append([request('allowed'), request('denied', '::1'), request('failed'), request('denied', '')]);
    expect(texts(ring)).toEqual([
      '→ api.example.com:443 · 1.2 KiB · 30 ms',
      '[::1]:443 denied by capabilities.hosts.',
      'api.example.com:443 could not be reached.',
      'A request without a host denied by capabilities.hosts.',
    ]);
  });
});
