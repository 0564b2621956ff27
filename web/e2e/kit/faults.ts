// Provides a server that simulates network faults.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The record of a successful run. */
export const ran = JSON.stringify({ status: 'succeeded', output: 1 });

/**
 * Starts a server, calls `work`, and stops the server. For each request the server calls `answer` with the number of
 * the request. Returns the requests.
 */
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

/**
 * Returns an event of a run in the form in which a server sends it. Its data contains U+0085 and U+2028, which must not
 * end a line of the stream.
 */
export function eventText(seq: number, kind: string): string {
  return `id: ${String(seq)}\nevent: ${kind}\ndata: ${JSON.stringify({ seq, at: '', kind, data: 'ö\u0085\u2028' })}\n\n`;
}

/** Ends the first stream in the middle of its second event. The next stream continues after the first event. */
export function brokenStream(request: IncomingMessage, response: ServerResponse, n: number): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  if (n === 1) {
    response.write(eventText(1, 'stdout') + eventText(2, 'stdout').slice(0, 20), () => request.socket.destroy());
  } else response.end(eventText(2, 'stdout') + eventText(3, 'result'));
}
