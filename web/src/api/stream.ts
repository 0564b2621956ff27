// Follows a run over a WebSocket that sends one event per frame. If the connection breaks, it connects again and
// continues after the last sequence number.
import { apiBase, sessionEnded } from './http';
import { parseJson } from './json';
import type { Run, RunEvent, RunStatus } from './types';
import { getRun } from './verbs';
import { inWorkspace } from './workspace';

export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'ended';

export interface StreamListener {
  events(batch: RunEvent[]): void;
  state(state: StreamState): void;
}

/** The functions for WebSockets and time that following needs. Tests replace them. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((end?: { code: number }) => void) | null;
  close(): void;
}
export interface StreamWorld {
  open(path: string): Socket;
  later(run: () => void, ms: number): () => void;
  /** Calls a function before the next paint. Many events then cause one render per frame. */
  frame(run: () => void): () => void;
  now(): number;
  run(runId: string): Promise<Run>;
}

// The time in milliseconds that processing events may take per frame, and the maximum output per frame. A large number
// of events is distributed over several frames, so that the page stays responsive.
const frameBudget = 4;
const frameOutput = 192 * 1024;
const sliceOutput = 16 * 1024;
const rightLost = 1008;
const streamEnded = 1000;
const notEnded: RunStatus[] = ['queued', 'awaiting_approval', 'running'];
const firstDelay = 500;
const lastDelay = 8000;

export const browserEnvironment: StreamWorld = {
  open(path) {
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    return new WebSocket(`${scheme}//${location.host}${inWorkspace(path)}`) as Socket;
  },
  later(run, ms) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  // A hidden tab paints no frames, so a timer is used instead.
  frame(run) {
    if (document.hidden) return browserEnvironment.later(run, 100);
    const frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  },
  now: () => performance.now(),
  run: getRun,
};

const sizeOf = (event: RunEvent | undefined): number => (typeof event?.data === 'string' ? event.data.length : 64);

/**
 * The number of events that are processed between two reads of the clock. The result event is processed alone, because
 * it changes most of the screen.
 */
function sliceOf(waiting: RunEvent[]): number {
  let [taken, size] = [0, 0];
  while (taken < waiting.length && size < sliceOutput && (taken === 0 || waiting[taken]?.kind !== 'result'))
    size += sizeOf(waiting[taken++]);
  return taken;
}

/** Follows the run until its result. Returns a function that stops following. */
export function followRun(
  runId: string,
  listener: StreamListener,
  world: StreamWorld = browserEnvironment,
): () => void {
  let last = 0;
  let delay = firstDelay;
  let ended = false;
  let socket: Socket | undefined;
  const waiting: RunEvent[] = [];
  let cancelTimer = (): void => undefined;
  let cancelFrame: (() => void) | undefined;

  const drain = (): void => {
    cancelFrame = undefined;
    const until = world.now() + frameBudget;
    let size = 0;
    while (waiting.length > 0) {
      const slice = waiting.splice(0, sliceOf(waiting));
      size += slice.reduce((sum, event) => sum + sizeOf(event), 0);
      listener.events(slice);
      if (waiting[0]?.kind === 'result' || size >= frameOutput || world.now() >= until) break;
    }
    if (waiting.length > 0) cancelFrame = world.frame(drain);
  };

  const accept = (event: RunEvent): void => {
    // After a reconnection the server may repeat events. Each sequence number is processed once.
    if (event.seq <= last) return;
    last = event.seq;
    delay = firstDelay;
    waiting.push(event);
    cancelFrame ??= world.frame(drain);
    if (event.kind !== 'result') return;
    ended = true;
    listener.state('ended');
    socket?.close();
  };

  const reconnect = (): void => {
    listener.state('reconnecting');
    cancelTimer = world.later(connect, delay);
    delay = Math.min(delay * 2, lastDelay);
  };

  // If a stream ends without a result, the server has none to send. Then the record of the run contains the result.
  const readRecord = async (): Promise<void> => {
    const run = await world.run(runId).catch(() => undefined);
    if (ended) return;
    if (run === undefined || notEnded.includes(run.status)) reconnect();
    else accept({ seq: last + 1, at: run.finishedAt ?? run.createdAt, kind: 'result', data: run });
  };

  const connect = (): void => {
    socket = world.open(`${apiBase}/runs/${runId}/stream?from=${last}`);
    socket.onopen = () => listener.state('live');
    socket.onmessage = (message) => {
      if (typeof message.data === 'string') accept(parseJson(message.data) as unknown as RunEvent);
    };
    socket.onclose = (end) => {
      if (ended) return;
      // If the user may no longer read the run, the page shows the error and the sign-in form.
      if (end?.code === rightLost) sessionEnded.dispatchEvent(new Event('ended'));
      if (end?.code === streamEnded) void readRecord();
      else reconnect();
    };
  };

  listener.state('connecting');
  connect();
  return () => {
    ended = true;
    waiting.length = 0;
    cancelTimer();
    cancelFrame?.();
    socket?.close();
  };
}
