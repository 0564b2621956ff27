// Sends and receives JSON-RPC messages of a language server in a worker. The messages are plain objects without
// framing.
type Handler = (params: unknown) => unknown;

export interface Cancel {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): void };
}

export interface Message {
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

interface Waiting {
  done(result: unknown): void;
  failed(error: Error): void;
}

export class Connection {
  private last = 0;
  private readonly waiting = new Map<number | string, Waiting>();

  constructor(
    private readonly post: (message: object) => void,
    private readonly handlers: Readonly<Record<string, Handler>>,
  ) {}

  /** Sends a request. The result is undefined if the request is cancelled or the server has stopped. */
  request(method: string, params: object, cancel?: Cancel): Promise<unknown> {
    const id = ++this.last;
    const stopped = cancel?.onCancellationRequested(() => this.notify('$/cancelRequest', { id }));
    return new Promise<unknown>((done, failed) => {
      this.waiting.set(id, { done, failed });
      this.post({ jsonrpc: '2.0', id, method, params });
    }).finally(() => stopped?.dispose());
  }

  notify(method: string, params: object): void {
    this.post({ jsonrpc: '2.0', method, params });
  }

  receive({ id, method, params, result, error }: Message): void {
    if (method !== undefined) {
      const answer = this.handlers[method]?.(params) ?? null;
      if (id !== undefined) this.post({ jsonrpc: '2.0', id, result: answer });
      return;
    }
    if (id === undefined) return;
    const asked = this.waiting.get(id);
    this.waiting.delete(id);
    if (error && !cancelled.includes(error.code)) asked?.failed(new Error(error.message));
    else asked?.done(result ?? undefined);
  }

  close(): void {
    for (const asked of this.waiting.values()) asked.done(undefined);
    this.waiting.clear();
  }
}

// Error codes of LSP: request cancelled, content modified, server cancelled.
const cancelled = [-32800, -32801, -32802];
