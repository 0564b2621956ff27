// A server that plays the faults of a network.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The record of a run that succeeded. */
export const ran = JSON.stringify({ status: 'succeeded', output: 1 });

/** Answers each request with a function that gets its number, while the work lasts. Returns the requests. */
export async function withFaults(
  answer: (request: IncomingMessage, response: ServerResponse, n: number) => void,
  work: (url: string) => Promise<void>,
): Promise<IncomingMessage[]> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    request.resume();
    answer(request, response, seen.push(request));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    await work(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  } finally {
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
  }
  return seen;
}

/** Returns the idempotency keys of requests. */
export function keysOf(seen: IncomingMessage[]): unknown[] {
  return [...new Set(seen.map(({ headers }) => headers['idempotency-key']))];
}

/** An event of a run as a server sends it. Its data has U+0085 and U+2028, which do not end a line of a stream. */
export function eventText(seq: number, kind: string): string {
  return `id: ${String(seq)}\nevent: ${kind}\ndata: ${JSON.stringify({ seq, at: '', kind, data: 'ö\u0085\u2028' })}\n\n`;
}

/** Breaks the first stream in the middle of its second event. The next one goes on. */
export function brokenStream(request: IncomingMessage, response: ServerResponse, n: number): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  if (n === 1) {
    response.write(eventText(1, 'stdout') + eventText(2, 'stdout').slice(0, 20), () => request.socket.destroy());
  } else response.end(eventText(2, 'stdout') + eventText(3, 'result'));
}
