import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import css from './StateMark.module.css';

/**
 * The colour of a state. Every state also has an icon and a text, because some users cannot distinguish the colours.
 */
export type Look = 'ok' | 'err' | 'warn' | 'quiet';

interface Props {
  look: Look;
  icon: LucideIcon;
  turning?: boolean;
  children: ReactNode;
}

/** Shows a state as an icon and a word. */
export function StateMark({ look, icon: Icon, turning = false, children }: Props) {
  return (
    <span className={css.mark} data-look={look} data-turning={turning}>
      <Icon size={14} aria-hidden />
      <span>{children}</span>
    </span>
  );
}
