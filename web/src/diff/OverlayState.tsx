import { CircleCheck, CircleX, GitPullRequestArrow, TimerOff, type LucideIcon } from 'lucide-react';
import type { Overlay } from '../api/types';
import { projectsPage as say } from '../texts/projects';
import { StateMark, type Look } from '../ui/StateMark';

const marks: Record<Overlay['status'], { icon: LucideIcon; look: Look }> = {
  open: { icon: GitPullRequestArrow, look: 'warn' },
  accepted: { icon: CircleCheck, look: 'ok' },
  rejected: { icon: CircleX, look: 'err' },
  expired: { icon: TimerOff, look: 'quiet' },
};

/** Shows the state of a proposed change. */
export function OverlayState({ status }: Pick<Overlay, 'status'>) {
  return <StateMark {...marks[status]}>{say.states[status]}</StateMark>;
}
