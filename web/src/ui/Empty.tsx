import type { ReactNode } from 'react';
import css from './Empty.module.css';

interface Props {
  /** The heading of a page that has nothing else. */
  title?: string;
  children: ReactNode;
  actions?: ReactNode;
}

/** An empty state: one sentence and actions. */
export function Empty({ title, children, actions }: Props) {
  return (
    <div className={css.empty}>
      {title !== undefined && <h1>{title}</h1>}
      <p>{children}</p>
      {actions !== undefined && <div className={css.actions}>{actions}</div>}
    </div>
  );
}
