// The lines of one run: a bounded ring that turns chunks into lines, keeps the style each line begins in, and
// overwrites the pending line on a carriage return, as a terminal does.
import type { EgressData, LogLevel, RunEvent } from '../api/types';
import { stringifyJson } from '../api/json';
import { ring as say } from '../texts/console';
import { endStyle, plainText, type Style } from './sgr';

export type Stream = 'stdout' | 'stderr' | 'log' | 'progress' | 'system';

export interface Line {
  /** Counts from 1 over the whole run, also across what the ring dropped. */
  number: number;
  at: string;
  stream: Stream;
  text: string;
  style: Style;
  level?: LogLevel;
  fields?: string;
}

export const ringCapacity = 200_000;
// What one line may hold: a program that never ends its line must not grow the page.
const lineCapacity = 1_000_000;

interface Pending {
  line: Line;
  /** A carriage return was seen: the next text replaces the line. */
  returned: boolean;
}

export class Ring {
  /** Rises with every change; a view compares it to know when to draw. */
  changes = 0;
  private lines: Line[] = [];
  private start = 0;
  private next = 1;
  private readonly pending = new Map<'stdout' | 'stderr', Pending>();
  private readonly styles = new Map<'stdout' | 'stderr', Style>();

  constructor(private readonly capacity = ringCapacity) {}

  get length(): number {
    return this.lines.length - this.start;
  }

  /** How many lines were dropped at the front. */
  get dropped(): number {
    return this.next - 1 - this.length;
  }

  at(index: number): Line | undefined {
    return this.lines[this.start + index];
  }

  clear(): void {
    this.lines = [];
    this.start = 0;
    this.next = 1;
    this.pending.clear();
    this.styles.clear();
    this.changes++;
  }

  append(events: RunEvent[]): void {
    for (const event of events) this.appendOne(event);
    this.changes++;
  }

  system(text: string, at = ''): void {
    this.push({ at, stream: 'system', text, style: {} });
    this.changes++;
  }

  /** All lines as plain text. */
  toText(): string {
    return this.lines
      .slice(this.start)
      .map((l) => lineText(l))
      .join('\n');
  }

  private appendOne(event: RunEvent): void {
    switch (event.kind) {
      case 'stdout':
      case 'stderr':
        return this.chunk(event.kind, event.data, event.at);
      case 'log': {
        const { level, message, fields } = event.data;
        const extra = fields && Object.keys(fields).length > 0 ? { fields: stringifyJson(fields) } : {};
        this.push({ at: event.at, stream: 'log', text: message, style: {}, level, ...extra });
        return;
      }
      case 'progress':
        return this.progress(event.data, event.at);
      case 'dropped':
        this.push({
          at: event.at,
          stream: 'system',
          text: say.notKept(event.data.bytes),
          style: {},
        });
        return;
      case 'status':
      case 'result':
      case 'call':
        return;
      case 'egress':
        this.push({ at: event.at, stream: 'system', text: egressWords(event.data), style: {} });
        return;
    }
  }

  /** Progress overwrites the progress before it while nothing else was printed between. */
  private progress(data: { done: number; total: number; message?: string }, at: string): void {
    const of = data.total > 0 ? say.progress(data.done, data.total) : String(data.done);
    const text = data.message === undefined || data.message === '' ? of : `${of}  ${data.message}`;
    const last = this.lines.at(-1);
    if (last?.stream === 'progress' && this.length > 0) {
      last.text = text;
      last.at = at;
      return;
    }
    this.push({ at, stream: 'progress', text, style: {} });
  }

  private chunk(stream: 'stdout' | 'stderr', data: string, at: string): void {
    const parts = data.split('\n');
    parts.forEach((part, i) => {
      const ended = i < parts.length - 1;
      if (part !== '' || ended) this.write(stream, part, at);
      if (ended) this.endLine(stream);
    });
  }

  private write(stream: 'stdout' | 'stderr', text: string, at: string): void {
    let pending = this.pending.get(stream);
    if (!pending) {
      pending = { line: this.push({ at, stream, text: '', style: this.styles.get(stream) ?? {} }), returned: false };
      this.pending.set(stream, pending);
    }
    // Only what follows the last carriage return is seen; one at the very end waits for what follows it.
    const trailing = text.endsWith('\r');
    const body = trailing ? text.slice(0, -1) : text;
    const cut = body.lastIndexOf('\r');
    if (body !== '') {
      const visible = body.slice(cut + 1);
      const whole = pending.returned || cut >= 0 ? visible : pending.line.text + visible;
      pending.line.text = whole.length > lineCapacity ? whole.slice(0, lineCapacity) : whole;
    }
    pending.returned = trailing || (pending.returned && body === '');
  }

  private endLine(stream: 'stdout' | 'stderr'): void {
    const pending = this.pending.get(stream);
    if (!pending) return;
    this.pending.delete(stream);
    this.styles.set(stream, endStyle(pending.line.text, pending.line.style));
  }

  private push(line: Omit<Line, 'number'>): Line {
    const numbered = { number: this.next++, ...line };
    this.lines.push(numbered);
    if (this.length > this.capacity) this.start++;
    // The dead front is cut off in one go, so that a flood does not shift the array for every line.
    if (this.start > this.capacity / 4 && this.start > 1000) {
      this.lines = this.lines.slice(this.start);
      this.start = 0;
    }
    return numbered;
  }
}

/** A line without escapes, as search and copy see it. */
export function lineText(line: Line): string {
  const text = plainText(line.text);
  if (line.stream !== 'log') return text;
  return `${line.level ?? 'info'}: ${text}${line.fields === undefined ? '' : ` ${line.fields}`}`;
}

/** What became of a request to the network, in a line. */
function egressWords({ host, port, decision, rule, bytes, ms }: EgressData): string {
  const name = host === '' ? '' : `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (decision === 'denied') return say.denied(name, rule);
  if (decision === 'failed') return say.couldNotBeReached(name);
  return say.reached(name, bytes, ms);
}
