import { useEffect, useRef, useState } from 'react';
import { explain } from '../api/http';

/** What went wrong because of fields, by their JSON pointers: the form says it there. */
export class FieldFaults extends Error {
  constructor(readonly fields: ReadonlyMap<string, string>) {
    super([...fields.values()].join(' '));
  }
}

const none: ReadonlyMap<string, string> = new Map();

export type TaskState =
  { kind: 'idle' } | { kind: 'busy' } | { kind: 'failed'; message: string; fields: ReadonlyMap<string, string> };

export interface Task {
  state: TaskState;
  busy: boolean;
  /** Why it failed, where fields are not to blame. */
  fault: string | undefined;
  /** Why it failed, where this field is. */
  at: (pointer: string) => string | undefined;
  run: (work: () => Promise<void>) => void;
  /** Does what the end of the work leads to, unless who began it has left: they may be at the same again by then. */
  leadOn: (then: () => void) => void;
  fail: (message: string, pointer?: string) => void;
  failAt: (fields: ReadonlyMap<string, string>) => void;
}

/** One piece of work that a button starts: it is at it once at a time, and says why it failed. */
export function useTask(): Task {
  const [state, setState] = useState<TaskState>({ kind: 'idle' });
  const here = useRef(false);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  const leadOn = (then: () => void): void => {
    if (here.current) then();
  };
  const fail = (message: string, pointer?: string): void =>
    setState({ kind: 'failed', message, fields: pointer === undefined ? none : new Map([[pointer, message]]) });
  const failAt = (fields: ReadonlyMap<string, string>): void => setState({ kind: 'failed', message: '', fields });
  const run = (work: () => Promise<void>): void => {
    setState({ kind: 'busy' });
    work().then(
      () => setState({ kind: 'idle' }),
      (error: unknown) => (error instanceof FieldFaults ? failAt(error.fields) : fail(explain(error))),
    );
  };
  const failed = state.kind === 'failed' ? state : undefined;
  const at = (pointer: string): string | undefined => failed?.fields.get(pointer);
  const fault = failed?.fields.size === 0 ? failed.message : undefined;
  return { state, busy: state.kind === 'busy', fault, at, run, leadOn, fail, failAt };
}
