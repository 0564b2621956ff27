import type { RunAnswer, RunStatus } from '../api/types';
import { words as say } from '../texts/run';
import type { Look } from '../ui/StateMark';

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
