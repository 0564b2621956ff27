// Tracks whether the server answers. It uses the result of the last request. While there are no requests, it sends a
// heartbeat.
import { basePath } from './base';

const beat = 10_000;
const retry = 3_000;

let reached = true;
const listeners = new Set<() => void>();

/** Reports whether a request was answered. Any answer counts, whatever its status. */
export function report(answered: boolean): void {
  if (answered === reached) return;
  reached = answered;
  for (const listener of [...listeners]) listener();
  if (listeners.size > 0) schedule();
}

export const isReached = (): boolean => reached;

/** Calls the listener after changes. The heartbeat runs while there is at least one listener. */
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
  // A hidden page sends no heartbeat. It sends the next request when it becomes visible.
  if (document.hidden) return schedule();
  try {
    await fetch(`${basePath}/health`, { cache: 'no-store', signal: AbortSignal.timeout(beat) });
    report(true);
  } catch {
    report(false);
  }
  if (listeners.size > 0) schedule();
}
