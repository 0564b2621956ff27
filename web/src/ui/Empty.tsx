import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import css from './Empty.module.css';

interface Props {
  /** The heading, for a page without other content. */
  title?: string;
  /** A picture above the heading, for a page without other content. */
  icon?: LucideIcon;
  children: ReactNode;
  actions?: ReactNode;
  /** Content below the actions, such as other actions or the details of an error. */
  more?: ReactNode;
}

/** Shows that there is nothing, with one sentence and actions. */
export function Empty({ title, icon: Icon, children, actions, more }: Props) {
  return (
    <div className={css.empty}>
      {Icon && (
        <span className={css.icon}>
          <Icon size={24} strokeWidth={1.75} aria-hidden />
        </span>
      )}
      {title !== undefined && <h1>{title}</h1>}
      <p>{children}</p>
      {actions !== undefined && <div className={css.actions}>{actions}</div>}
      {more}
    </div>
  );
}
