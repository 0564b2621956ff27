// Stores the lines of a run in order, up to a maximum number. A line is stored as a position in its chunk, so that
// 100,000 lines do not create 100,000 objects.
import type { LogLevel } from '../api/types';
import type { Style } from './sgr';

export type Stream = 'stdout' | 'stderr' | 'log' | 'progress' | 'system';

export interface Line {
  /** The number of the line, from 1. It counts all lines of the run, including removed lines. */
  number: number;
  at: string;
  stream: Stream;
  text: string;
  style: Style;
  level?: LogLevel;
  fields?: string;
}

interface Chunk {
  text: string;
  at: string;
}

const streams: readonly Stream[] = ['stdout', 'stderr', 'log', 'progress', 'system'];
const plain: Style = {};
const firstSize = 1024;

/** The attributes of each line, in a ring buffer. The line number determines the index. */
class Columns {
  readonly chunk: Uint32Array;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly stream: Uint8Array;

  constructor(
    readonly size: number,
    before?: Columns,
  ) {
    this.chunk = new Uint32Array(size);
    this.from = new Uint32Array(size);
    this.to = new Uint32Array(size);
    this.stream = new Uint8Array(size);
    if (!before) return;
    this.chunk.set(before.chunk);
    this.from.set(before.from);
    this.to.set(before.to);
    this.stream.set(before.stream);
  }
}

export class Lines {
  /** The numbers of the oldest stored line and of the next line. */
  first = 1;
  next = 1;
  private columns: Columns;
  private readonly chunks = new Map<number, Chunk>();
  private oldestChunk = 1;
  private lastChunk = 0;
  /** The texts of lines that span more than one chunk. */
  private readonly own = new Map<number, Line>();
  private readonly styles = new Map<number, Style>();

  constructor(private readonly capacity: number) {
    this.columns = new Columns(Math.min(capacity, firstSize));
  }

  get length(): number {
    return this.next - this.first;
  }

  /** Stores the text of which the following lines are parts. */
  hold(text: string, at: string): void {
    this.chunks.set(++this.lastChunk, { text, at });
  }

  /** Adds a line that is a part of the last stored text. */
  addPart(stream: 'stdout' | 'stderr', from: number, to: number, style: Style | undefined): void {
    const place = this.place(stream);
    this.columns.from[place] = from;
    this.columns.to[place] = to;
    if (style) this.styles.set(this.next, style);
    this.next++;
  }

  /** Adds a line with a separate text. The line may change until the next line is added. */
  add(line: Omit<Line, 'number'>): Line {
    const numbered = { number: this.next, ...line };
    this.place(line.stream);
    this.own.set(this.next++, numbered);
    return numbered;
  }

  get(number: number): Line | undefined {
    if (number < this.first || number >= this.next) return undefined;
    const own = this.own.get(number);
    if (own) return own;
    const place = this.placeOf(number);
    const { text = '', at = '' } = this.chunks.get(this.columns.chunk[place] ?? 0) ?? {};
    const part = text.slice(this.columns.from[place], this.columns.to[place]);
    return { number, at, stream: this.streamOf(number), text: part, style: this.styles.get(number) ?? plain };
  }

  streamOf(number: number): Stream {
    return streams[this.columns.stream[this.placeOf(number)] ?? 0] ?? 'stdout';
  }

  /** Returns the length of the line, including escape sequences. */
  lengthOf(number: number): number {
    const place = this.placeOf(number);
    const length = (this.columns.to[place] ?? 0) - (this.columns.from[place] ?? 0);
    return length > 0 ? length : (this.own.get(number)?.text.length ?? 0);
  }

  private placeOf(number: number): number {
    return (number - 1) % this.columns.size;
  }

  /** Reserves the next line. Its attributes are empty. */
  private place(stream: Stream): number {
    if (this.length === this.capacity) this.drop();
    else if (this.length === this.columns.size)
      this.columns = new Columns(Math.min(this.capacity, 2 * this.columns.size), this.columns);
    const place = this.placeOf(this.next);
    this.columns.chunk[place] = this.lastChunk;
    this.columns.from[place] = this.columns.to[place] = 0;
    this.columns.stream[place] = streams.indexOf(stream);
    return place;
  }

  private drop(): void {
    this.own.delete(this.first);
    this.styles.delete(this.first);
    this.first++;
    const oldest = this.length === 0 ? this.lastChunk : (this.columns.chunk[this.placeOf(this.first)] ?? 0);
    while (this.oldestChunk < oldest) this.chunks.delete(this.oldestChunk++);
  }
}
