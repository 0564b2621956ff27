// Provides a gate: a server at which a program waits for an HTTP answer until the test opens the gate.
import { createServer } from 'node:http';

export interface Gate {
  /** The host of the gate. An agent must be allowed to connect to it. */
  host: string;
  /** Python code that waits at the gate. It uses `ctx`. */
  wait: string;
  open: () => void;
  close: () => Promise<void>;
}

/** Starts a gate on a port to which programs may connect. */
export async function startGate({ grantable }: { grantable: number }): Promise<Gate> {
  let open = (): void => undefined;
  const opened = new Promise<void>((done) => (open = done));
  const server = createServer((_, answer) => void opened.then(() => answer.end('open')));
  await new Promise<void>((done) => server.listen(grantable, '127.0.0.1', done));
  const host = `127.0.0.1:${String(grantable)}`;
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
