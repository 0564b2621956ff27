import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { setLayout, useLayout } from '../../app/layout';
import { classes } from '../../ui/classes';
import css from './ConfigPanel.module.css';

interface Props {
  id: string;
  title: string;
  /** One line that says what is inside while it is closed. */
  summary: string;
  wrong?: boolean;
  children: ReactNode;
}

export function Section({ id, title, summary, wrong, children }: Props) {
  const { sections } = useLayout();
  const body = useId();
  const open = sections[id] ?? false;
  return (
    <section className={css.section}>
      <h2 style={{ display: 'contents' }}>
        <button
          type="button"
          className={css.head}
          aria-expanded={open}
          aria-controls={body}
          onClick={() => setLayout({ sections: { ...sections, [id]: !open } })}
        >
          {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
          <span className={css.heading}>{title}</span>
          <span className={classes(css.summary, wrong && css.wrong)}>{open && !wrong ? '' : summary}</span>
        </button>
      </h2>
      {open && (
        <div id={body} className={css.body}>
          {children}
        </div>
      )}
    </section>
  );
}
