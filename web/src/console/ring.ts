// Stores the output of one run. It splits chunks into lines and stores the style at the start of each line. On a
// carriage return it overwrites the current line, like a terminal. The number of lines is limited.
import type { CallData, EgressData, RunEvent } from '../api/types';
import { stringifyJson } from '../api/json';
import { ring as say } from '../texts/console';
import { Lines, type Line, type Stream } from './lines';
import { endStyle, isPlain, plainText, type Style } from './sgr';

export const ringCapacity = 200_000;
const esc = '\u001b';
// The maximum length of a line, so that a line without an end cannot fill the page.
const lineCapacity = 1_000_000;

interface Pending {
  line: Line;
  /** Whether the last character was a carriage return. Then the next text replaces the line. */
  returned: boolean;
}

export class Ring {
  /** Increases with every change. Components compare it to decide whether to render. */
  changes = 0;
  /** Increases when the output is cleared. Then line numbers start at 1 again. */
  clears = 0;
  private lines: Lines;
  private readonly pending = new Map<'stdout' | 'stderr', Pending>();
  private readonly styles = new Map<'stdout' | 'stderr', Style>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly capacity = ringCapacity) {
    this.lines = new Lines(capacity);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  getChanges = (): number => this.changes;

  get length(): number {
    return this.lines.length;
  }

  /** Returns the number of lines that were removed at the start. */
  get dropped(): number {
    return this.lines.first - 1;
  }

  at(index: number): Line | undefined {
    return index < 0 ? undefined : this.lines.get(this.lines.first + index);
  }

  /** Reads the attributes of a line by its number, without building the line. */
  numbered(number: number): Line | undefined {
    return this.lines.get(number);
  }
  streamOf(number: number): Stream {
    return this.lines.streamOf(number);
  }
  lengthOf(number: number): number {
    return this.lines.lengthOf(number);
  }

  /** Whether the line can still change. */
  isOpen(number: number): boolean {
    for (const { line } of this.pending.values()) if (line.number === number) return true;
    return number === this.lines.next - 1 && this.streamOf(number) === 'progress';
  }

  clear(): void {
    this.lines = new Lines(this.capacity);
    this.pending.clear();
    this.styles.clear();
    this.clears++;
    this.changed();
  }

  append(events: RunEvent[]): void {
    for (const event of events) this.appendOne(event);
    this.changed();
  }

  system(text: string, at = ''): void {
    this.lines.add({ at, stream: 'system', text, style: {} });
    this.changed();
  }

  /** Returns all lines as plain text. */
  toText(): string {
    const texts: string[] = [];
    for (let i = 0; i < this.length; i++) {
      const line = this.at(i);
      if (line) texts.push(lineText(line));
    }
    return texts.join('\n');
  }

  private appendOne(event: RunEvent): void {
    switch (event.kind) {
      case 'stdout':
      case 'stderr':
        return this.chunk(event.kind, event.data, event.at);
      case 'log': {
        const { level, message, fields } = event.data;
        const extra = fields && Object.keys(fields).length > 0 ? { fields: stringifyJson(fields) } : {};
        this.lines.add({ at: event.at, stream: 'log', text: message, style: {}, level, ...extra });
        return;
      }
      case 'progress':
        return this.progress(event.data, event.at);
      case 'dropped':
        this.lines.add({
          at: event.at,
          stream: 'system',
          text: say.notKept(event.data.bytes),
          style: {},
        });
        return;
      case 'status':
      case 'result':
        return;
      case 'call':
        this.lines.add({ at: event.at, stream: 'system', text: callWords(event.data), style: {} });
        return;
      case 'egress':
        this.lines.add({ at: event.at, stream: 'system', text: egressWords(event.data), style: {} });
        return;
    }
  }

  /** A progress message replaces the previous one if there was no other output between them. */
  private progress(data: { done: number; total: number; message?: string }, at: string): void {
    const of = data.total > 0 ? say.progress(data.done, data.total) : String(data.done);
    const text = data.message === undefined || data.message === '' ? of : `${of}  ${data.message}`;
    const last = this.at(this.length - 1);
    if (last?.stream === 'progress') {
      last.text = text;
      last.at = at;
      return;
    }
    this.lines.add({ at, stream: 'progress', text, style: {} });
  }

  private chunk(stream: 'stdout' | 'stderr', data: string, at: string): void {
    const returns = data.includes('\r');
    const coloured = data.includes(esc);
    let held = false;
    let from = 0;
    for (let to = data.indexOf('\n'); to >= 0; to = data.indexOf('\n', from)) {
      if (returns || this.pending.has(stream)) {
        this.write(stream, data.slice(from, to), at);
        this.endLine(stream);
      } else {
        if (!held) this.lines.hold(data, at);
        held = true;
        this.wholeLine(stream, data, from, to, coloured);
      }
      from = to + 1;
    }
    if (from < data.length) this.write(stream, data.slice(from), at);
  }

  /** Fast path for a line that is inside one chunk and overwrites nothing. */
  private wholeLine(stream: 'stdout' | 'stderr', data: string, from: number, to: number, coloured: boolean): void {
    const style = this.styles.get(stream);
    this.lines.addPart(stream, from, to, style);
    if (coloured) this.leave(stream, endStyle(data.slice(from, to), style ?? {}));
  }

  private write(stream: 'stdout' | 'stderr', text: string, at: string): void {
    let pending = this.pending.get(stream);
    if (!pending) {
      pending = {
        line: this.lines.add({ at, stream, text: '', style: this.styles.get(stream) ?? {} }),
        returned: false,
      };
      this.pending.set(stream, pending);
    }
    // Only the text after the last carriage return is visible. If the carriage return is the last character, the line
    // changes with the next text.
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
    this.leave(stream, endStyle(pending.line.text, pending.line.style));
  }

  /** Stores the style with which the stream's next line starts. */
  private leave(stream: 'stdout' | 'stderr', style: Style): void {
    if (isPlain(style)) this.styles.delete(stream);
    else this.styles.set(stream, style);
  }

  private changed(): void {
    this.changes++;
    for (const listener of [...this.listeners]) listener();
  }
}

/** Returns a line without escape sequences, for search and copy. */
export function lineText(line: Line): string {
  const text = plainText(line.text);
  if (line.stream !== 'log') return text;
  return `${line.level ?? 'info'}: ${text}${line.fields === undefined ? '' : ` ${line.fields}`}`;
}

/** Returns one line that describes the call of another agent or of a host function. */
function callWords({ reference: agent, function: name, path, status, error, ms }: CallData): string {
  const reference = agent ?? [name, path].filter((part) => part !== undefined).join(' ');
  if (status === 'running') return say.calls(reference);
  if (error === undefined) return say.answered(reference, ms ?? 0);
  return say.callFailed(reference, error);
}

/** Returns one line that describes the result of a network request. */
function egressWords({ host, port, decision, rule, bytes, ms }: EgressData): string {
  const name = host === '' ? '' : `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (decision === 'denied') return say.denied(name, rule);
  if (decision === 'failed') return say.couldNotBeReached(name);
  return say.reached(name, bytes, ms);
}
