import type { RunEvent } from './types.js';

/** Reads the events of a stream of server-sent events, until the stream ends. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<RunEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let parts: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = value.split('\n');
      // Only complete lines are joined. Otherwise a long line, which arrives in many chunks, would be copied for each
      // chunk.
      for (let i = 0; i < lines.length - 1; i++) {
        const line = [...parts, lines[i] ?? ''].join('');
        parts = [];
        if (line.startsWith('data:')) yield JSON.parse(line.slice(5)) as RunEvent;
      }
      parts.push(lines.at(-1) ?? '');
    }
  } finally {
    await reader.cancel().catch(() => undefined); // the connection may already be lost
  }
}
