import { expect, it } from 'vitest';
import { eventsOf } from './proposals';

/** A stream that delivers a text in pieces of some characters. */
const streamOf = (text: string, size: number): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });

it.each([1, 7, 1000])('reads events of a stream that arrives in pieces of %d bytes', async (size) => {
  const text =
    ': still here\n\nevent: attempt\ndata: {"n":1,"error":"ü"}\n\n: still here\n\nevent: proposal\ndata: {}\n\n';
  const found = [];
  for await (const event of eventsOf(streamOf(text, size))) found.push(event);
  expect(found).toEqual([
    { name: 'attempt', data: '{"n":1,"error":"ü"}' },
    { name: 'proposal', data: '{}' },
  ]);
});
