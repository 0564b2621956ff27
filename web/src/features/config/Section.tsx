import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId, useRef, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { setLayout, useLayout } from '../../state/layout';
import { classes } from '../../ui/classes';
import css from './ConfigPanel.module.css';

interface Props {
  id: string;
  title: string;
  /** The summary that the section shows while it is closed. */
  summary: string;
  wrong?: boolean;
  children: ReactNode;
}

export function Section({ id, title, summary, wrong, children }: Props) {
  const { sections } = useLayout();
  const body = useId();
  const whole = useRef<HTMLElement>(null);
  const open = sections[id] ?? false;
  /** Scrolls an opened section into view. */
  const toggle = (): void => {
    flushSync(() => setLayout({ sections: { ...sections, [id]: !open } }));
    if (!open) whole.current?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <section ref={whole} className={css.section}>
      <h2 style={{ display: 'contents' }}>
        <button type="button" className={css.head} aria-expanded={open} aria-controls={body} onClick={toggle}>
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
