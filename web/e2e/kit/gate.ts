// Blocks a program at an HTTP request until the test opens the gate.
import { createServer } from 'node:http';

export interface Gate {
  /** The host that an agent must be allowed to reach to wait at the gate. */
  host: string;
  /** Python code with `ctx` that waits at the gate. */
  wait: string;
  open: () => void;
  close: () => Promise<void>;
}

/** Starts a gate on a port that programs may be granted. */
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
