// Reads the stream of an agent's changes: saved drafts, published versions, and the other users who have the agent
// open.
import { apiBase } from './http';
import { parseJson } from './json';
import { inWorkspace } from './workspace';

export interface Person {
  id: string;
  name: string;
  since: string;
}

interface Changes {
  /** A person or a program saved the draft. It is also called at the start and after a lost connection. */
  draft: (revision: number) => void;
  version: () => void;
  people: (people: Person[]) => void;
}

/**
 * Follows an agent while the page is visible, and returns the function that stops this. Over HTTP/1.1 a browser opens
 * at most six connections to a server, so hidden tabs must not use them up.
 */
export function followAgent(name: string, changes: Changes): () => void {
  let source: EventSource | undefined;
  const stop = (): void => {
    source?.close();
    source = undefined;
  };
  const start = (): void => {
    if (document.visibilityState !== 'visible') return stop();
    if (source !== undefined) return;
    source = new EventSource(inWorkspace(`${apiBase}/code-agents/${encodeURIComponent(name)}/events`));
    source.addEventListener('draft', ({ data }: MessageEvent<string>) =>
      changes.draft((parseJson(data) as { revision: number }).revision),
    );
    source.addEventListener('version', changes.version);
    source.addEventListener('presence', ({ data }: MessageEvent<string>) =>
      changes.people((parseJson(data) as unknown as { people: Person[] }).people),
    );
  };
  document.addEventListener('visibilitychange', start);
  start();
  return () => {
    document.removeEventListener('visibilitychange', start);
    stop();
  };
}
