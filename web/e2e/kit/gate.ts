// Holds a program up: it waits where it asks the gate, until the test has seen what it wanted to see.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Gate {
  /** What an agent that waits at it is granted. */
  host: string;
  /** How a Python program with `ctx` waits. */
  wait: string;
  open: () => void;
  close: () => Promise<void>;
}

export async function startGate(): Promise<Gate> {
  let open = (): void => undefined;
  const opened = new Promise<void>((done) => (open = done));
  const server = createServer((_, answer) => void opened.then(() => answer.end('open')));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    host,
    wait: `ctx.fetch("http://${host}/")`,
    open,
    close: () =>
      new Promise((done) => {
        open();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
