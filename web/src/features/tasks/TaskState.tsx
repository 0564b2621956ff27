import {
  CircleCheck,
  CircleDashed,
  CirclePlay,
  CircleX,
  GitPullRequestArrow,
  LoaderCircle,
  PenLine,
  Terminal,
  Upload,
  type LucideIcon,
} from 'lucide-react';
import type { TaskStatus } from '../../api/types';
import { tasksPage as say } from '../../texts/tasks';
import { StateMark, type Look } from '../../ui/StateMark';
import { moving } from './columns';

export const taskMarks: Record<TaskStatus, { icon: LucideIcon; look: Look }> = {
  queued: { icon: CircleDashed, look: 'quiet' },
  spawning: { icon: CirclePlay, look: 'quiet' },
  generating: { icon: PenLine, look: 'quiet' },
  executing: { icon: Terminal, look: 'quiet' },
  submitting: { icon: Upload, look: 'quiet' },
  reviewing: { icon: GitPullRequestArrow, look: 'warn' },
  accepted: { icon: CircleCheck, look: 'ok' },
  rejected: { icon: CircleX, look: 'err' },
  errored: { icon: CircleX, look: 'err' },
};

/** Shows the state of a task. While a server works on the task, the icon rotates. */
export function TaskState({ status }: { status: TaskStatus }) {
  const { look, icon } = taskMarks[status];
  const works = moving(status) && status !== 'queued';
  return (
    <StateMark look={look} icon={works ? LoaderCircle : icon} turning={works}>
      {say.states[status]}
    </StateMark>
  );
}
