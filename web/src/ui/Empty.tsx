import { useEffect, useState, type ReactNode } from 'react';
import { empty as say } from '../texts/ui';
import { Button } from './Button';
import css from './Empty.module.css';

/** One sentence on what this is, and what to do. */
export function Empty({ children, actions }: { children: ReactNode; actions?: ReactNode }) {
  return (
    <div className={css.empty}>
      <p>{children}</p>
      {actions !== undefined && <div className={css.actions}>{actions}</div>}
    </div>
  );
}

/**
 * Waiting says nothing at first, then says so, and after five seconds offers to try again. A page holds back what
 * stands below it, which would jump when that comes which is waited for.
 */
export function Waiting({ what, onRetry }: { what: string; onRetry?: () => void }) {
  const [phase, setPhase] = useState<'silent' | 'loading' | 'still'>('silent');
  useEffect(() => {
    const soon = setTimeout(() => setPhase('loading'), 150);
    const late = setTimeout(() => setPhase('still'), 5000);
    return () => {
      clearTimeout(soon);
      clearTimeout(late);
    };
  }, []);
  const still = phase === 'still';
  const retry = still && onRetry ? <Button onClick={onRetry}>{say.retry}</Button> : undefined;
  return (
    <div role="status" className={css.empty} data-waiting>
      {phase !== 'silent' && <p>{still ? say.stillLoading(what) : say.loading(what)}</p>}
      {retry}
    </div>
  );
}
