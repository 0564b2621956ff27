import type { RunAnswer, RunStatus } from '../api/types';
import { words as say } from '../texts/run';

/** The colour of a status. Every status also has a text, because colour alone is not accessible. */
export type Look = 'ok' | 'err' | 'warn' | 'quiet';

const looks: Record<RunStatus, Look> = {
  succeeded: 'ok',
  failed: 'err',
  timed_out: 'err',
  cancelled: 'warn',
  blocked: 'err',
  interrupted: 'warn',
  queued: 'quiet',
  running: 'quiet',
  awaiting_approval: 'warn',
};

const causes: Record<string, string> = say.causes;

export function finalStatus({ status, error }: Pick<RunAnswer, 'status' | 'error'>): { text: string; look: Look } {
  const cause = status === 'failed' && error ? causes[error.type] : undefined;
  return { text: cause ?? say.finals[status], look: looks[status] };
}
