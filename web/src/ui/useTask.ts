import { useState } from 'react';
import { explain } from '../api/http';

export type TaskState = { kind: 'idle' } | { kind: 'busy' } | { kind: 'failed'; message: string };

export interface Task {
  state: TaskState;
  busy: boolean;
  fault: string | undefined;
  run: (work: () => Promise<void>) => void;
  fail: (message: string) => void;
}

/** One piece of work that a button starts: it is at it once at a time, and says why it failed. */
export function useTask(): Task {
  const [state, setState] = useState<TaskState>({ kind: 'idle' });
  const fail = (message: string): void => setState({ kind: 'failed', message });
  const run = (work: () => Promise<void>): void => {
    setState({ kind: 'busy' });
    work().then(
      () => setState({ kind: 'idle' }),
      (error: unknown) => fail(explain(error)),
    );
  };
  return { state, busy: state.kind === 'busy', fault: state.kind === 'failed' ? state.message : undefined, run, fail };
}
