import { useCallback, useEffect, useRef, useState } from 'react';
import { explain } from '../../api/http';
import type { Watch } from '../../api/proposals';
import type { Attempt } from '../../api/types';

export type Ask<T> = (watch: Watch, signal: AbortSignal) => Promise<T>;

export type Progress<T> =
  | { kind: 'idle' }
  | { kind: 'working'; since: number; attempts: readonly Attempt[] }
  | { kind: 'failed'; message: string; attempts: readonly Attempt[] }
  | { kind: 'done'; proposal: T };

/** Manages one conversation with the language model. `stop` cancels it, and so does leaving the component. */
export function useProposal<T>(): { progress: Progress<T>; start: (ask: Ask<T>) => void; stop: () => void } {
  const [progress, setProgress] = useState<Progress<T>>({ kind: 'idle' });
  const current = useRef<AbortController>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const start = useCallback((ask: Ask<T>): void => {
    current.current?.abort();
    const own = new AbortController();
    current.current = own;
    let attempts: readonly Attempt[] = [];
    const since = Date.now();
    const show = (next: Progress<T>): void => {
      if (!own.signal.aborted) setProgress(next);
    };
    const watch = (attempt: Attempt): void => {
      attempts = [...attempts, attempt];
      show({ kind: 'working', since, attempts });
    };
    show({ kind: 'working', since, attempts });
    ask(watch, own.signal).then(
      (proposal) => show({ kind: 'done', proposal }),
      (error: unknown) => show({ kind: 'failed', message: explain(error), attempts }),
    );
  }, []);
  const stop = useCallback((): void => {
    current.current?.abort();
    setProgress({ kind: 'idle' });
  }, []);
  return { progress, start, stop };
}
