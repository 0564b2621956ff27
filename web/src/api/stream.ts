// Follows a run over a WebSocket, one event per frame. It resumes after the last seq when the connection breaks.
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

/** The WebSocket functions and the clock that following needs. Tests replace them. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((end?: { code: number }) => void) | null;
  close(): void;
}
export interface StreamWorld {
  open(path: string): Socket;
  later(run: () => void, ms: number): () => void;
  /** Calls back before the next paint, so that a flood of events causes one render per frame. */
  frame(run: () => void): () => void;
  now(): number;
  run(runId: string): Promise<Run>;
}

// The time that event processing may use per frame, in milliseconds, and the maximum output per frame. A flood is
// spread over frames, so that the page stays responsive.
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
  // A hidden tab paints no frames, so a timer replaces the frame there.
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
 * How many events are processed between two reads of the clock. The result is processed alone because most of the
 * screen changes with it.
 */
function sliceOf(waiting: RunEvent[]): number {
  let [taken, size] = [0, 0];
  while (taken < waiting.length && size < sliceOutput && (taken === 0 || waiting[taken]?.kind !== 'result'))
    size += sizeOf(waiting[taken++]);
  return taken;
}

/** Follows the run until its result. Returns the function that stops following. */
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
    // After a resume the server may repeat events. Each seq is shown once.
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

  // A stream that ends without a result has none to send: the record of the run says how it ended.
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
      // If the user lost read access, the page shows the error and the sign-in form.
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
