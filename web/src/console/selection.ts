// Which lines are shown and which of them hold what is searched for. Every line is looked at once, for as long as a frame
// allows, so that a flood or a long run leaves the page quick; what may still change is looked at again.
import { lineText, type Ring } from './ring';
import type { Stream } from './lines';

export type Filter = 'all' | 'stdout' | 'stderr' | 'log';

const streams: Record<Exclude<Filter, 'all'>, readonly Stream[]> = {
  stdout: ['stdout'],
  stderr: ['stderr'],
  log: ['log', 'progress'],
};

// How many lines are looked at between two looks at the clock.
const step = 512;

export class Selection {
  /** The numbers of the lines that hold what is searched for, in their order. */
  readonly hits: number[] = [];
  /** The numbers of the lines that the filter lets through, unless it lets all through. */
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

  /** How many lines are shown. */
  get count(): number {
    return this.passed?.length ?? this.ring.length;
  }

  numberAt(index: number): number {
    return this.passed ? (this.passed[index] ?? 0) : this.ring.dropped + 1 + index;
  }

  /** Where the line with the number is shown. */
  indexOf(number: number): number {
    return this.passed ? lowest(this.passed, number) : number - this.ring.dropped - 1;
  }

  isHit(number: number): boolean {
    return this.hits[lowest(this.hits, number)] === number;
  }

  /** Looks at lines that came, until the time is over; answers whether all have been looked at. */
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

  /** Looks at a line that may have changed, and answers whether it may once more. */
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

/** The lowest place whose number is not below the wanted one. */
function lowest(numbers: number[], wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
