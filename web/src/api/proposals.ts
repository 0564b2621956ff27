// Asks a language model for proposals. The server streams each failed attempt, and then the proposal or a problem.
import { answerOf, OfflineError, requestStream } from './http';
import { isObject, parseJson } from './json';
import type { Attempt } from './types';

/** Reports a failed attempt. The model is already working on the next one. */
export type Watch = (attempt: Attempt) => void;

/** Asks for a proposal. `signal` cancels the request to the model. */
export async function propose<T>(path: string, body: unknown, watch: Watch, signal: AbortSignal): Promise<T> {
  const stream = await requestStream(path, body, signal);
  for await (const { name, data } of eventsOf(stream)) {
    if (name === 'attempt') watch(parseJson(data) as unknown as Attempt);
    if (name === 'proposal') return parseJson(data) as unknown as T;
    if (name === 'problem') answerOf(statusOf(data), data, null);
  }
  throw new OfflineError(); // the stream ended without a proposal or a problem
}

function statusOf(problem: string): number {
  const value = parseJson(problem);
  return isObject(value) && typeof value['status'] === 'number' ? value['status'] : 500;
}

interface NamedEvent {
  name: string;
  data: string;
}

/** Returns the named events of a stream. It skips comments, which only keep the connection open. */
export async function* eventsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<NamedEvent> {
  const reader = stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): NamedEvent | undefined {
  const lines = block.split('\n');
  const field = (name: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
  const [name] = field('event');
  return name === undefined ? undefined : { name, data: field('data').join('\n') };
}
