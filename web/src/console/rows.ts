// Where each line of the console is, counted in rows of one height. Without wrapping a line is a row. With it a line takes
// as many rows as its text needs: reckoned from the width of the font, and put right by what a drawn line really took.
import type { Line } from './ring';
import { plainText } from './sgr';

export type LineAt = (index: number) => Line | undefined;

/** The places of all lines that are shown. */
export interface Rows {
  total: number;
  /** How many rows come before the line. */
  before(index: number): number;
  /** The line that a row belongs to. */
  at(row: number): number;
}

export function unwrapped(count: number): Rows {
  return { total: count, before: (index) => index, at: (row) => row };
}

// The column that says how a line was logged, in characters.
const levelCells = 10;
const fieldsGap = 2;

interface Known {
  number: number;
  length: number;
  rows: number;
}

/** Remembers how many rows lines take while they are wrapped at one width. */
export class Wrapping {
  private columns = 0;
  private known: (Known | undefined)[] = [];

  /** `most` is how much of a line is drawn, `capacity` how many lines there are at most. */
  constructor(
    private readonly capacity: number,
    private readonly most: number,
  ) {}

  arrange(count: number, lineAt: LineAt, columns: number): Rows {
    if (columns !== this.columns) {
      this.columns = columns;
      this.known = [];
    }
    const starts = new Uint32Array(count + 1);
    for (let index = 0; index < count; index++) {
      const line = lineAt(index);
      starts[index + 1] = (starts[index] ?? 0) + (line ? this.of(line) : 1);
    }
    return {
      total: starts[count] ?? 0,
      before: (index) => starts[Math.min(index, count)] ?? 0,
      at: (row) => search(starts, count, row),
    };
  }

  /** Takes in what a drawn line took, and returns by how many rows that is more than was reckoned. */
  measured(line: Line, rows: number): number {
    const more = rows - this.of(line);
    if (more !== 0) this.known[line.number % this.capacity] = { number: line.number, length: line.text.length, rows };
    return more;
  }

  private of(line: Line): number {
    const place = line.number % this.capacity;
    const known = this.known[place];
    if (known?.number === line.number && known.length === line.text.length) return known.rows;
    const rows = Math.max(1, Math.ceil(this.cells(line) / this.columns));
    this.known[place] = { number: line.number, length: line.text.length, rows };
    return rows;
  }

  private cells(line: Line): number {
    const text = Math.min(plainText(line.text).length, this.most);
    const level = line.stream === 'log' || line.stream === 'progress' ? levelCells : 0;
    return level + text + (line.fields === undefined ? 0 : fieldsGap + line.fields.length);
  }
}

/** The last line that begins at the row or before it. */
function search(starts: Uint32Array, count: number, row: number): number {
  let low = 0;
  let high = Math.max(0, count - 1);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}
