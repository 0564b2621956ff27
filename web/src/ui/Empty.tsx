import type { ReactNode } from 'react';
import css from './Empty.module.css';

/** An empty state: one sentence and actions. */
export function Empty({ children, actions }: { children: ReactNode; actions?: ReactNode }) {
  return (
    <div className={css.empty}>
      <p>{children}</p>
      {actions !== undefined && <div className={css.actions}>{actions}</div>}
    </div>
  );
}
