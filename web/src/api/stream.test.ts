import { describe, expect, it } from 'vitest';
import { followRun, type Socket, type StreamState, type StreamWorld } from './stream';
import type { Run } from './types';

const record = { runId: 'r1', status: 'interrupted', success: false, createdAt: '', finishedAt: 'then' } as Run;

function fakeWorld() {
  const sockets: (Socket & { path: string; closed: boolean })[] = [];
  const timers: { run: () => void; ms: number }[] = [];
  const frames: (() => void)[] = [];
  const clock = { now: 0 };
  const world: StreamWorld = {
    open(path) {
      const socket = {
        path,
        closed: false,
        onopen: null,
        onmessage: null,
        onclose: null,
        close: () => (socket.closed = true),
      };
      sockets.push(socket);
      return socket;
    },
    later(run, ms) {
      timers.push({ run, ms });
      return () => undefined;
    },
    frame(run) {
      frames.push(run);
      return () => undefined;
    },
    now: () => clock.now,
    run: () => Promise.resolve(record),
  };
  const send = (seq: number, kind: string, data: unknown) =>
    sockets.at(-1)?.onmessage?.({ data: JSON.stringify({ seq, at: '', kind, data }) });
  return { world, clock, sockets, timers, frames, send };
}

function follow(takesMs = 0) {
  const fake = fakeWorld();
  const batches: number[][] = [];
  const states: StreamState[] = [];
  const stop = followRun(
    'r1',
    {
      events: (events) => {
        batches.push(events.map((e) => e.seq));
        fake.clock.now += takesMs;
      },
      state: (s) => states.push(s),
    },
    fake.world,
  );
  return { ...fake, batches, states, stop };
}

describe('followRun', () => {
  it('hands over one batch a frame', () => {
    const f = follow();
    f.send(1, 'stdout', 'a');
    f.send(2, 'stdout', 'b');
    expect(f.batches).toEqual([]);
    f.frames.shift()?.();
    expect(f.batches).toEqual([[1, 2]]);
  });

  it('resumes after the last seq, waits longer each time and shows nothing twice', () => {
    const f = follow();
    f.sockets[0]?.onopen?.();
    f.send(1, 'stdout', 'a');
    f.frames.shift()?.();
    f.sockets[0]?.onclose?.();
    f.timers[0]?.run();
    expect(f.sockets[1]?.path).toBe('/api/v1/runs/r1/stream?from=1');
    f.sockets[1]?.onclose?.();
    expect(f.timers.map((t) => t.ms)).toEqual([500, 1000]);
    f.timers[1]?.run();
    f.send(1, 'stdout', 'a');
    f.send(2, 'stdout', 'b');
    f.frames.shift()?.();
    expect(f.batches).toEqual([[1], [2]]);
    expect(f.states).toEqual(['connecting', 'live', 'reconnecting', 'reconnecting']);
  });

  it('spreads a flood over frames, in order', () => {
    const f = follow();
    for (let seq = 1; seq <= 20; seq++) f.send(seq, 'stdout', 'x'.repeat(32 * 1024));
    f.send(21, 'result', {});
    for (let run = f.frames.shift(); run; run = f.frames.shift()) run();
    expect(f.batches.length).toBeGreaterThan(2);
    expect(f.batches.flat()).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
  });

  it('takes in no more once a frame has cost enough, and loses nothing', () => {
    const f = follow(3);
    for (let seq = 1; seq <= 5; seq++) f.send(seq, 'stdout', 'x'.repeat(32 * 1024));
    const upTo: (number | undefined)[] = [];
    for (let run = f.frames.shift(); run; run = f.frames.shift()) {
      run();
      upTo.push(f.batches.at(-1)?.at(-1));
    }
    expect(upTo).toEqual([2, 4, 5]);
  });

  it('leaves a frame of its own to the result', () => {
    const f = follow();
    f.send(1, 'stdout', 'a');
    f.send(2, 'result', {});
    f.frames.shift()?.();
    expect(f.batches).toEqual([[1]]);
    f.frames.shift()?.();
    expect(f.batches).toEqual([[1], [2]]);
  });

  it('delivers no event after following stops', () => {
    const f = follow();
    f.send(1, 'stdout', 'a');
    f.stop();
    for (const run of f.frames) run();
    expect(f.batches.flat()).toEqual([]);
  });

  it('reads the record of a run whose stream ends without a result', async () => {
    const f = follow();
    f.send(1, 'stdout', 'a');
    f.frames.shift()?.();
    f.sockets[0]?.onclose?.({ code: 1000 });
    await Promise.resolve();
    await Promise.resolve();
    for (let run = f.frames.shift(); run; run = f.frames.shift()) run();
    expect(f.batches).toEqual([[1], [2]]);
    expect(f.timers).toEqual([]);
    expect(f.states.at(-1)).toBe('ended');
  });

  it('ends with the result and does not reconnect', () => {
    const f = follow();
    f.send(1, 'stdout', 'a');
    f.send(2, 'result', {});
    for (let run = f.frames.shift(); run; run = f.frames.shift()) run();
    expect(f.batches.flat()).toEqual([1, 2]);
    f.sockets[0]?.onclose?.();
    expect(f.timers).toEqual([]);
    expect(f.sockets[0]?.closed).toBe(true);
    expect(f.states.at(-1)).toBe('ended');
  });
});
