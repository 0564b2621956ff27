import { AtelierError } from './errors.js';

export interface Options {
  /**
   * Maximum number of times that a request is repeated, if the server was too busy or the connection failed. Default:
   * 3.
   */
  retries?: number;
  /** Maximum time to wait for an answer, in milliseconds. It does not apply to streams of events. Default: 660000. */
  timeoutMs?: number;
  /** Function that is called instead of the global fetch. */
  fetch?: typeof fetch;
}

export interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Sends an idempotency key, so that a repeated request acts only once. */
  keyed?: boolean;
  /** The answer is a stream that may last long, so the request has no time limit. */
  endless?: boolean;
}

const longestWaitMs = 60_000;

/**
 * Sends requests to one server. It repeats a request that got no answer. It never sends the token to another address.
 */
export class Transport {
  readonly #base: string;
  readonly #token: string;
  readonly #retries: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(url: string, token: string, options: Options) {
    this.#base = `${url.replace(/\/+$/, '')}/api/v1`;
    this.#token = token;
    this.#retries = options.retries ?? 3;
    this.#timeoutMs = options.timeoutMs ?? 660_000;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Sends a request and returns the answer. If the server refuses the request, it throws an AtelierError. */
  async send(method: string, path: string, sent: Sent = {}): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}`, ...sent.headers };
    if (sent.body !== undefined) headers['content-type'] = 'application/json';
    if (sent.keyed === true) headers['idempotency-key'] = crypto.randomUUID();
    const repeatable = method === 'GET' || sent.keyed === true;
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= this.#retries;
      let response: Response;
      try {
        response = await this.#fetch(this.#base + path, {
          method,
          headers,
          redirect: 'manual', // following a redirect would send the token to another address
          signal: this.#signal(sent),
          ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
        });
      } catch (fault) {
        if (last || !repeatable || !(fault instanceof TypeError)) throw fault; // fetch throws a TypeError if the connection is lost
        await pause(backOffMs(attempt), sent.signal);
        continue;
      }
      if (response.ok) return response;
      const wait = retryAfterMs(response);
      if (last || wait === undefined) throw await refusal(response);
      await response.body?.cancel();
      await pause(wait, sent.signal);
    }
  }

  /** Sends a request and reads the answer as JSON. */
  async json<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    return (await (await this.send(method, path, sent)).json()) as T;
  }

  #signal(sent: Sent): AbortSignal | null {
    const limits = sent.endless === true ? [] : [AbortSignal.timeout(this.#timeoutMs)];
    if (sent.signal !== undefined) limits.push(sent.signal);
    return limits.length === 0 ? null : AbortSignal.any(limits);
  }
}

/**
 * Returns the delay after which a refused request may be repeated. It returns undefined if repeating the request is
 * useless. A 409 with Retry-After means that the first request with the same key is still in progress.
 */
function retryAfterMs(response: Response): number | undefined {
  const text = response.headers.get('retry-after') ?? '';
  if (![409, 429, 503].includes(response.status) || !/^\d+$/.test(text)) return undefined;
  return Math.min(Number(text) * 1000, longestWaitMs);
}

async function refusal(response: Response): Promise<AtelierError> {
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel();
    return new AtelierError(response.status, {
      code: 'redirected',
      detail: 'The server redirects to another address. Use that address, so that the token is sent nowhere else.',
    });
  }
  const text = await response.text();
  let problem: unknown;
  try {
    problem = JSON.parse(text);
  } catch {
    problem = undefined; // the answer came from a proxy and is not a problem document
  }
  return new AtelierError(response.status, isRecord(problem) ? problem : {});
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the delay before the next attempt after a lost connection. */
export function backOffMs(attempt: number): number {
  return 100 * 2 ** attempt;
}

/** Waits for a time. If the signal aborts the wait, it throws the reason of the signal. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, failed) => {
    const give = () => {
      clearTimeout(timer);
      failed(signal?.reason as Error);
    };
    if (signal?.aborted === true) return failed(signal.reason as Error);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give);
      done();
    }, ms);
    signal?.addEventListener('abort', give, { once: true });
  });
}
