// The state of a run in a word, a mark and a colour, so that no state is colour alone.
import type { RunAnswer, RunStatus } from '../../api/types';
import { words as say } from '../../texts/run';
import type { RunState } from './controller';

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

export function finalWords({ status, error }: Pick<RunAnswer, 'status' | 'error'>): { word: string; look: Look } {
  const cause = status === 'failed' && error ? causes[error.type] : undefined;
  return { word: cause ?? say.finals[status], look: looks[status] };
}

export function stateWords(run: RunState, elapsed: number): { text: string; look: Look } | undefined {
  switch (run.kind) {
    case 'idle':
      return undefined;
    case 'starting':
      return { text: say.starting, look: 'quiet' };
    case 'refused':
      return { text: say.notStarted, look: 'err' };
    case 'queued':
      return { text: run.position === undefined ? say.queued : say.queuedAt(run.position), look: 'quiet' };
    case 'running':
      return { text: say.running(elapsed), look: 'quiet' };
    case 'done': {
      const { word, look } = finalWords(run.answer);
      return { text: say.endedIn(word, run.answer.metrics.totalMs), look };
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
