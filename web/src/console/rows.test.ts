import { describe, expect, it } from 'vitest';
import type { Line } from './lines';
import { unwrapped, Wrapping, type Shown } from './rows';

const line = (number: number, text: string, more: Partial<Line> = {}): Line => ({
  number,
  at: '',
  stream: 'stdout',
  text,
  style: {},
  ...more,
});
const of = (lines: Line[]): Shown => ({
  numberAt: (index) => lines[index]?.number ?? 0,
  lengthAt: (index) => lines[index]?.text.length ?? 0,
  lineAt: (index) => lines[index],
});

describe('rows of the console', () => {
  it('are lines where nothing is wrapped', () => {
    const rows = unwrapped(3);
    expect([rows.total, rows.before(2), rows.at(1)]).toEqual([3, 2, 1]);
  });

  const takes: Record<string, { line: Line; rows: number }> = {
    'an empty line is one row': { line: line(1, ''), rows: 1 },
    'a line as wide as the screen is one row': { line: line(1, 'x'.repeat(20)), rows: 1 },
    'one character more is two': { line: line(1, 'x'.repeat(21)), rows: 2 },
    'escapes take no place': { line: line(1, `\u001b[31m${'x'.repeat(20)}\u001b[0m`), rows: 1 },
    'the level of a log does': { line: line(1, 'x'.repeat(11), { stream: 'log', level: 'info' }), rows: 2 },
    'so do its fields': { line: line(1, 'x', { stream: 'log', level: 'info', fields: '{"a":1234}' }), rows: 2 },
    'what is not drawn does not': { line: line(1, 'x'.repeat(1000)), rows: 5 },
  };
  for (const [name, want] of Object.entries(takes)) {
    it(name, () => expect(new Wrapping(10, 100).arrange(1, of([want.line]), 20).total).toBe(want.rows));
  }

  it('lead from a line to its place and back', () => {
    const lines = [line(1, 'x'.repeat(50)), line(2, ''), line(3, 'x'.repeat(25))];
    const rows = new Wrapping(10, 100).arrange(3, of(lines), 20);
    expect([0, 1, 2, 3].map((i) => rows.before(i))).toEqual([0, 3, 4, 6]);
    expect([0, 1, 2, 3, 4, 5, 6, 99].map((r) => rows.at(r))).toEqual([0, 0, 0, 1, 2, 2, 2, 2]);
  });

  it('are put right by what a line really took, until it grows or the width changes', () => {
    const lines = [line(1, '漢字'.repeat(5)), line(2, 'x')];
    const wrapping = new Wrapping(10, 100);
    const total = (columns: number): number => wrapping.arrange(2, of(lines), columns).total;
    expect(total(20)).toBe(2);
    expect(wrapping.measured(lines[0] ?? line(0, ''), 3)).toBe(2);
    expect(total(20)).toBe(4);
    lines[0] = line(1, 'x'.repeat(30));
    expect(total(20)).toBe(3);
    expect(total(10)).toBe(4);
  });

  it('know a line by its number, whatever the ring holds at its place', () => {
    const wrapping = new Wrapping(2, 100);
    expect(wrapping.arrange(2, of([line(1, 'x'.repeat(9)), line(2, '')]), 5).total).toBe(3);
    expect(wrapping.arrange(2, of([line(2, ''), line(3, '123456789')]), 5).total).toBe(3);
    expect(wrapping.arrange(2, of([line(4, ''), line(5, '')]), 5).total).toBe(2);
  });
});
