import { ApprovalNeeded, RunFailed } from './errors.js';
import { readEvents } from './stream.js';
import { type Options, Transport, backOffMs, pause } from './transport.js';
import type {
  Accepted,
  Agent,
  AgentBody,
  AwaitedPublication,
  Format,
  InlineBody,
  LimitsBody,
  PublishBody,
  Published,
  ResolvedReference,
  Run,
  RunAnswer,
  RunEvent,
  ToolSet,
  ToolSetBody,
} from './types.js';

export interface RunOptions {
  /** Limits for this run. They can only lower the limits of the version. */
  limits?: LimitsBody;
  signal?: AbortSignal;
}

/** Calls the API of one server. */
export class Client {
  readonly #transport: Transport;

  constructor(url: string, token: string, options: Options = {}) {
    this.#transport = new Transport(url, token, options);
  }

  /** Runs a version, such as weather@^1, and returns the output of the program. Throws RunFailed and ApprovalNeeded. */
  async run<Output = unknown>(reference: string, input: unknown = {}, options: RunOptions = {}): Promise<Output> {
    const run = await this.execute(reference, input, options);
    if (run.status !== 'succeeded') throw new RunFailed(run);
    return run.output as Output;
  }

  /**
   * Runs a version and returns the record of the run. The program may have succeeded or failed. Throws ApprovalNeeded.
   */
  execute(reference: string, input: unknown = {}, options: RunOptions = {}): Promise<RunAnswer> {
    const { agent, version } = split(reference);
    return this.#finished(`/code-agents/${agent}/execute`, { version, input, ...limitsOf(options) }, options);
  }

  /** Runs a program whose code is part of the request, without an agent. Throws ApprovalNeeded. */
  executeCode(program: InlineBody, options: Pick<RunOptions, 'signal'> = {}): Promise<RunAnswer> {
    return this.#finished('/execute', program, options);
  }

  /** Starts a run of a version and returns immediately. Read the events of the run with events(runId). */
  start(reference: string, input: unknown = {}, options: RunOptions = {}): Promise<Accepted> {
    const { agent, version } = split(reference);
    return this.#transport.json('POST', `/code-agents/${agent}/execute`, {
      body: { version, input, ...limitsOf(options) },
      headers: { prefer: 'respond-async' },
      signal: options.signal,
      keyed: true,
    });
  }

  /** Reads the record of a run. */
  get(runId: string): Promise<Run> {
    return this.#transport.json('GET', `/runs/${encodeURIComponent(runId)}`);
  }

  /** Cancels a run. */
  cancel(runId: string): Promise<Run> {
    return this.#transport.json('POST', `/runs/${encodeURIComponent(runId)}/cancel`, { body: {}, keyed: true });
  }

  /**
   * Yields the events of a run that follow the event `from`, until the run has ended. The last event is the result. If
   * the connection is lost, the client connects again and continues after the last event.
   */
  async *events(runId: string, options: { from?: number; signal?: AbortSignal } = {}): AsyncGenerator<RunEvent> {
    let from = options.from ?? 0;
    for (let idle = 0; idle < 4; idle++) {
      if (idle > 0) await pause(backOffMs(idle - 1), options.signal);
      try {
        const response = await this.#transport.send(
          'GET',
          `/runs/${encodeURIComponent(runId)}/events?from=${String(from)}`,
          { headers: { accept: 'text/event-stream' }, signal: options.signal, endless: true },
        );
        if (response.body === null || response.status === 204) return; // the client has received all events before
        for await (const event of readEvents(response.body)) {
          [from, idle] = [event.seq, 0];
          yield event;
          if (event.kind === 'result') return;
        }
      } catch (fault) {
        if (options.signal?.aborted === true || !(fault instanceof TypeError)) throw fault; // fetch throws a TypeError if the connection is lost
      }
    }
    throw new Error(`The stream of run ${runId} ended before its result, after event ${String(from)}.`);
  }

  /** Creates an agent with the given draft. */
  create(agent: AgentBody): Promise<Agent> {
    return this.#transport.json('POST', '/code-agents', { body: agent, keyed: true });
  }

  /** Publishes the draft of an agent as a version, or requests an approval for that. */
  publish(agent: string, options: PublishBody = { bump: 'auto' }): Promise<Published | AwaitedPublication> {
    return this.#transport.json('POST', `/code-agents/${encodeURIComponent(agent)}/versions`, {
      body: options,
      keyed: true,
    });
  }

  /** Exports a version as a tool. */
  export(reference: string, format: Format = 'atelier'): Promise<Record<string, unknown>> {
    const { agent, version } = split(reference);
    return this.#transport.json('POST', `/code-agents/${agent}/export-tool`, {
      body: { version, format },
      keyed: true,
    });
  }

  /** Returns the versions that references select now. If a reference selects no version, its entry has an error. */
  async resolve(...references: string[]): Promise<ResolvedReference[]> {
    const sent = { body: { references } };
    return (await this.#transport.json<{ items: ResolvedReference[] }>('POST', '/references/resolve', sent)).items;
  }

  /** Reads a tool set and the versions that it pins. */
  toolSet(name: string): Promise<ToolSet> {
    return this.#transport.json('GET', `/tool-sets/${encodeURIComponent(name)}`);
  }

  /** Creates or replaces a tool set. */
  putToolSet(name: string, set: ToolSetBody): Promise<ToolSet> {
    return this.#transport.json('PUT', `/tool-sets/${encodeURIComponent(name)}`, { body: set, keyed: true });
  }

  async #finished(path: string, body: unknown, options: Pick<RunOptions, 'signal'>): Promise<RunAnswer> {
    const response = await this.#transport.send('POST', path, { body, signal: options.signal, keyed: true });
    if (response.status === 202) throw new ApprovalNeeded((await response.json()) as Accepted);
    return (await response.json()) as RunAnswer;
  }
}

function limitsOf({ limits }: RunOptions): { limits?: LimitsBody } {
  return limits === undefined ? {} : { limits };
}

/** Splits a reference such as weather@^1 into agent and version. The agent is encoded as a part of a URL. */
function split(reference: string): { agent: string; version: string } {
  const at = reference.indexOf('@');
  return at < 0
    ? { agent: encodeURIComponent(reference), version: 'latest' }
    : { agent: encodeURIComponent(reference.slice(0, at)), version: reference.slice(at + 1) || 'latest' };
}
