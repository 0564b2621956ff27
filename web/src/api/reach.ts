// Whether the server can be reached: as the last request found, and, while nothing is asked, as a heartbeat finds.
import { basePath } from './base';

const beat = 10_000;
const retry = 3_000;

let reached = true;
const listeners = new Set<() => void>();

/** Says how a request went: any answer counts, whatever its status. */
export function report(answered: boolean): void {
  if (answered === reached) return;
  reached = answered;
  for (const listener of [...listeners]) listener();
  if (listeners.size > 0) schedule();
}

export const isReached = (): boolean => reached;

/** Listens to changes. The heartbeat runs while there is a listener. */
export function onReach(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) schedule();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearTimeout(timer);
  };
}

let timer: ReturnType<typeof setTimeout> | undefined;

function schedule(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void ask(), reached ? beat : retry);
}

async function ask(): Promise<void> {
  // A hidden page sends the next request when it becomes visible.
  if (document.hidden) return schedule();
  try {
    await fetch(`${basePath}/health`, { cache: 'no-store', signal: AbortSignal.timeout(beat) });
    report(true);
  } catch {
    report(false);
  }
  if (listeners.size > 0) schedule();
}
