// Maps console lines to rows of the same height. An unwrapped line is one row. A wrapped line takes several rows. Their
// number is first estimated from the width of a character, and corrected when the line is drawn.
import type { Line } from './lines';
import { plainText } from './sgr';

/** The shown lines, by position. It reads numbers and lengths without building the lines. */
export interface Shown {
  numberAt(index: number): number;
  lengthAt(index: number): number;
  lineAt(index: number): Line | undefined;
}

/** The positions of all shown lines. */
export interface Rows {
  total: number;
  /** Returns the number of rows before the line. */
  before(index: number): number;
  /** Returns the line at a row. */
  at(row: number): number;
}

export function unwrapped(count: number): Rows {
  return { total: count, before: (index) => index, at: (row) => row };
}

// The width of the log level column, in characters.
const levelCells = 10;
const fieldsGap = 2;
const none = new Uint32Array();

/** Stores the heights of wrapped lines for one width of the console. */
export class Wrapping {
  private columns = 0;
  // A ring buffer by line number. It contains the line number and the length of the line at the time of the
  // measurement.
  private known = { number: none, length: none, rows: none };

  /** `most` is the length of the part of a line that is drawn. `capacity` is the maximum number of lines. */
  constructor(
    private readonly capacity: number,
    private readonly most: number,
  ) {}

  arrange(count: number, shown: Shown, columns: number): Rows {
    if (columns !== this.columns) {
      this.columns = columns;
      const [number, length, rows] = [0, 1, 2].map(() => new Uint32Array(this.capacity));
      this.known = { number: number ?? none, length: length ?? none, rows: rows ?? none };
    }
    const starts = new Uint32Array(count + 1);
    for (let index = 0; index < count; index++) {
      const number = shown.numberAt(index);
      const length = shown.lengthAt(index);
      starts[index + 1] =
        (starts[index] ?? 0) + (this.find(number, length) ?? this.reckon(shown.lineAt(index), number, length));
    }
    return {
      total: starts[count] ?? 0,
      before: (index) => starts[Math.min(index, count)] ?? 0,
      at: (row) => search(starts, count, row),
    };
  }

  /** Stores the measured height of a line. Returns the difference to the estimated height, in rows. */
  measured(line: Line, rows: number): number {
    const { number, text } = line;
    const more = rows - (this.find(number, text.length) ?? this.reckon(line, number, text.length));
    if (more !== 0) this.keep(number, text.length, rows);
    return more;
  }

  private find(number: number, length: number): number | undefined {
    const place = number % this.capacity;
    const { known } = this;
    return known.number[place] === number && known.length[place] === length ? known.rows[place] : undefined;
  }

  private reckon(line: Line | undefined, number: number, length: number): number {
    if (!line) return 1;
    return this.keep(number, length, Math.max(1, Math.ceil(this.cells(line) / this.columns)));
  }

  private keep(number: number, length: number, rows: number): number {
    const place = number % this.capacity;
    this.known.number[place] = number;
    this.known.length[place] = length;
    this.known.rows[place] = rows;
    return rows;
  }

  private cells(line: Line): number {
    const text = Math.min(plainText(line.text).length, this.most);
    const level = line.stream === 'log' || line.stream === 'progress' ? levelCells : 0;
    return level + text + (line.fields === undefined ? 0 : fieldsGap + line.fields.length);
  }
}

/** Returns the last line that starts at or before the row. */
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
