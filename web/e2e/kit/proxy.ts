// Provides a reverse proxy that serves a server under a path. It removes the path from requests, and records requests
// outside of the path.
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReverseProxy {
  /** The origin of the proxy, without the path. */
  url: string;
  /** The requests outside of the path. */
  outside: string[];
  to: (origin: string) => void;
  stop: () => Promise<void>;
}

export async function startProxy(path: string): Promise<ReverseProxy> {
  let target = new URL('http://127.0.0.1');
  const outside: string[] = [];
  const pass = (asked: IncomingMessage) => {
    const { url = '/', method, headers } = asked;
    if (!url.startsWith(`${path}/`)) {
      // Browsers request a favicon for pages without an icon, such as plain text.
      if (url !== '/favicon.ico') outside.push(url);
      return undefined;
    }
    return request({ host: target.hostname, port: target.port, path: url.slice(path.length), method, headers });
  };
  const server = createServer((asked, answer) => {
    const sent = pass(asked);
    if (!sent) return void answer.writeHead(404).end();
    sent.on('response', (got) => got.pipe(answer.writeHead(got.statusCode ?? 502, got.headers)));
    sent.on('error', () => answer.destroy());
    asked.pipe(sent);
  });
  server.on('upgrade', (asked, socket, early) => {
    socket.on('error', () => socket.destroy()); // a page may close before its WebSocket is connected
    const sent = pass(asked);
    if (!sent) return void socket.destroy();
    sent.on('upgrade', (got, through, first) => {
      const head = Object.entries(got.headers).map(([name, value]) => `${name}: ${String(value)}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${head.join('\r\n')}\r\n\r\n`);
      // The data that arrived together with the upgrade. It contains the first frames of a fast server.
      socket.write(first);
      through.write(early);
      socket.pipe(through).pipe(socket);
      through.on('error', () => socket.destroy());
      socket.on('error', () => through.destroy());
    });
    sent.on('response', () => socket.destroy());
    sent.on('error', () => socket.destroy());
    sent.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    outside,
    to: (origin) => {
      target = new URL(origin);
    },
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
