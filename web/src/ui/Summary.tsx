import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import css from './Summary.module.css';

/** The line of a details element that opens it, with the same arrow as the other parts that fold. */
export function Summary({ children }: { children: ReactNode }) {
  return (
    <summary className={css.summary}>
      <ChevronRight size={14} aria-hidden />
      {children}
    </summary>
  );
}
