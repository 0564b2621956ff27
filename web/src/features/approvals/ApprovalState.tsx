import { CircleCheck, CircleSlash, CircleX, Hourglass, TimerOff, type LucideIcon } from 'lucide-react';
import type { Approval } from '../../api/types';
import { approvalsPage as say } from '../../texts/approvals';
import { StateMark, type Look } from '../../ui/StateMark';

const marks: Record<Approval['status'], { icon: LucideIcon; look: Look }> = {
  pending: { icon: Hourglass, look: 'warn' },
  approved: { icon: CircleCheck, look: 'ok' },
  denied: { icon: CircleX, look: 'err' },
  expired: { icon: TimerOff, look: 'quiet' },
  withdrawn: { icon: CircleSlash, look: 'quiet' },
};

/** Shows the state of a request for approval. */
export function ApprovalState({ status }: Pick<Approval, 'status'>) {
  return <StateMark {...marks[status]}>{say.states[status]}</StateMark>;
}
