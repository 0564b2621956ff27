// The state of a run in a word, a mark and a colour, so that no state is colour alone.
import { milliseconds } from '../../texts/format';
import type { RunAnswer, RunStatus } from '../../api/types';
import type { RunState } from './controller';

export type Look = 'ok' | 'err' | 'warn' | 'quiet';

const finals: Record<RunStatus, { word: string; look: Look }> = {
  succeeded: { word: 'Succeeded', look: 'ok' },
  failed: { word: 'Failed', look: 'err' },
  timed_out: { word: 'Timed out', look: 'err' },
  cancelled: { word: 'Cancelled', look: 'warn' },
  blocked: { word: 'Blocked', look: 'err' },
  interrupted: { word: 'Interrupted', look: 'warn' },
  queued: { word: 'Queued', look: 'quiet' },
  running: { word: 'Running', look: 'quiet' },
  awaiting_approval: { word: 'Waits for approval', look: 'warn' },
};

const causes: Record<string, string> = {
  memory_limit: 'Out of memory',
  output_limit: 'Output limit',
  process_limit: 'Process limit',
  disk_limit: 'Disk limit',
  recursion_limit: 'Recursion limit',
  syntax_error: 'Syntax error',
  invalid_output: 'Invalid output',
  denied: 'Denied',
};

export function finalWords({ status, error }: Pick<RunAnswer, 'status' | 'error'>): { word: string; look: Look } {
  const { word, look } = finals[status];
  const cause = status === 'failed' && error ? causes[error.type] : undefined;
  return { word: cause ?? word, look };
}

export function stateWords(run: RunState, elapsed: number): { text: string; look: Look } | undefined {
  switch (run.kind) {
    case 'idle':
      return undefined;
    case 'starting':
      return { text: 'Starting', look: 'quiet' };
    case 'refused':
      return { text: 'Not started', look: 'err' };
    case 'queued':
      return { text: run.position === undefined ? 'Queued' : `Queued, position ${run.position}`, look: 'quiet' };
    case 'running':
      return { text: `Running ${(elapsed / 1000).toFixed(1)} s`, look: 'quiet' };
    case 'done': {
      const { word, look } = finalWords(run.answer);
      return { text: `${word} in ${milliseconds(run.answer.metrics.totalMs)}`, look };
    }
  }
}

/** The setting that a limit's error names, when it is one that the configuration shows. */
export function limitOf(type: string): string | undefined {
  const limits: Record<string, string> = {
    timeout: 'timeoutMs',
    memory_limit: 'memoryBytes',
    output_limit: 'outputBytes',
    process_limit: 'processes',
    disk_limit: 'diskBytes',
    recursion_limit: 'recursionDepth',
  };
  return limits[type];
}
