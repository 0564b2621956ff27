import { finalStatus } from '../../agent/runStatus';
import type { Look } from '../../ui/StateMark';
import { words as say } from '../../texts/run';
import type { RunState } from './controller';

/** Returns the text and colour for the state of a run, or undefined before the first run. */
export function stateText(run: RunState, elapsed: number): { text: string; look: Look } | undefined {
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
      const { text, look } = finalStatus(run.answer);
      return { text: say.endedIn(text, run.answer.metrics.totalMs), look };
    }
  }
}

/** Returns the limit setting that belongs to an error type, if the configuration panel shows the setting. */
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
