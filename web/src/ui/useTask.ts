import { useEffect, useRef, useState } from 'react';
import { explain } from '../api/http';

/** Errors of fields, by JSON pointer. The form shows each error at its field. */
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
  /** The error that does not belong to a field. */
  fault: string | undefined;
  /** Returns the error of a field. */
  at: (pointer: string) => string | undefined;
  run: (work: () => Promise<void>) => void;
  /**
   * Runs the second function after the work. It does not if the user has left the component, because the user may have
   * started the same work again.
   */
  leadOn: (then: () => void) => void;
  fail: (message: string, pointer?: string) => void;
  failAt: (fields: ReadonlyMap<string, string>) => void;
}

/** The state of one asynchronous action. The action runs only once at a time, and its error is stored. */
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
