import type { ReactNode } from 'react';
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
