// Filters and searches the console lines. Each line is checked once, within a time limit per frame, so that the page
// stays responsive. Lines that may still change are checked again.
import { lineText, type Ring } from './ring';
import type { Stream } from './lines';

export type Filter = 'all' | 'stdout' | 'stderr' | 'log';

const streams: Record<Exclude<Filter, 'all'>, readonly Stream[]> = {
  stdout: ['stdout'],
  stderr: ['stderr'],
  log: ['log', 'progress'],
};

// The number of lines checked between two reads of the clock.
const step = 512;

export class Selection {
  /** The numbers of matching lines, in order. */
  readonly hits: number[] = [];
  /** The numbers of the lines that pass the filter; undefined if all lines pass. */
  private readonly passed: number[] | undefined;
  private readonly wanted: string;
  private next: number;
  private open: number[] = [];

  constructor(
    private readonly ring: Ring,
    private readonly filter: Filter,
    search: string,
  ) {
    this.wanted = search.toLowerCase();
    this.passed = filter === 'all' ? undefined : [];
    this.next = ring.dropped + 1;
  }

  /** Returns the number of shown lines. */
  get count(): number {
    return this.passed?.length ?? this.ring.length;
  }

  numberAt(index: number): number {
    return this.passed ? (this.passed[index] ?? 0) : this.ring.dropped + 1 + index;
  }

  /** Returns the position of the line with this number. */
  indexOf(number: number): number {
    return this.passed ? lowest(this.passed, number) : number - this.ring.dropped - 1;
  }

  isHit(number: number): boolean {
    return this.hits[lowest(this.hits, number)] === number;
  }

  /** Checks new lines until the time is used up. Returns whether all lines have been checked. */
  advance(timeIsOver: () => boolean): boolean {
    const { ring, passed, hits } = this;
    const first = ring.dropped + 1;
    for (const numbers of [passed, hits]) if (numbers) numbers.splice(0, lowest(numbers, first));
    this.open = this.open.filter((number) => this.lookAgain(number));
    const end = first + ring.length;
    if (!passed && this.wanted === '') this.next = end;
    this.next = Math.max(this.next, first);
    while (this.next < end) {
      this.look(this.next++);
      if (this.next % step === 0 && timeIsOver()) break;
    }
    return this.next >= end;
  }

  private look(number: number): void {
    if (this.filter !== 'all' && !streams[this.filter].includes(this.ring.streamOf(number))) return;
    this.passed?.push(number);
    if (this.wanted === '') return;
    if (this.ring.isOpen(number)) this.open.push(number);
    if (this.holds(number)) this.hits.push(number);
  }

  /** Checks a line again. Returns whether it can still change. */
  private lookAgain(number: number): boolean {
    const at = lowest(this.hits, number);
    const was = this.hits[at] === number;
    if (this.holds(number) !== was) this.hits.splice(at, was ? 1 : 0, ...(was ? [] : [number]));
    return this.ring.isOpen(number);
  }

  private holds(number: number): boolean {
    const line = this.ring.numbered(number);
    return line !== undefined && lineText(line).toLowerCase().includes(this.wanted);
  }
}

/** Returns the lowest index whose line number is at least the given number. */
function lowest(numbers: number[], wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
