import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  Hourglass,
  LoaderCircle,
  TimerOff,
  Unplug,
  type LucideIcon,
} from 'lucide-react';
import type { RunAnswer, RunStatus } from '../api/types';
import { StateMark } from '../ui/StateMark';
import { finalStatus } from './runStatus';

export const runIcons: Record<RunStatus, LucideIcon> = {
  succeeded: CircleCheck,
  failed: CircleX,
  timed_out: TimerOff,
  cancelled: CircleSlash,
  blocked: Ban,
  interrupted: Unplug,
  queued: CircleDashed,
  running: LoaderCircle,
  awaiting_approval: Hourglass,
};

interface Props {
  run: Pick<RunAnswer, 'status' | 'error'>;
  /** A text after the state, such as a time. */
  after?: string;
}

/** Shows the state of a run as an icon and a word. */
export function RunMark({ run, after }: Props) {
  const { text, look } = finalStatus(run);
  return (
    <StateMark look={look} icon={runIcons[run.status]} turning={run.status === 'running'}>
      {text}
      {after !== undefined && <small> {after}</small>}
    </StateMark>
  );
}
