import { CircleX, Sparkles, TriangleAlert, X } from 'lucide-react';
import { useRef, type KeyboardEvent } from 'react';
import { useCommand } from '../../state/commands';
import { setLayout, useLayout } from '../../state/layout';
import type { Problem } from '../../editor/codeEditor';
import { IconButton } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { problems as say } from '../../texts/files';
import css from './Problems.module.css';
import { titleOf } from '../../agent/schemaPaths';

interface Props {
  problems: Problem[];
  onGoTo: (path: string, line: number, column: number) => void;
}

/** Lists the problems of all files below the editor. A click shows the position in the editor. */
export function Problems({ problems, onGoTo }: Props) {
  const { problemsOpen } = useLayout();
  useCommand('view.problems', () => setLayout({ problemsOpen: !problemsOpen }));
  const list = useRef<HTMLUListElement>(null);
  if (!problemsOpen) return null;

  const onKey = (e: KeyboardEvent): void => {
    const rows = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = rows.findIndex((row) => row === document.activeElement);
    const to = { ArrowDown: rows[at + 1], ArrowUp: rows[at - 1], Home: rows[0], End: rows.at(-1) }[e.key];
    if (!to) return;
    e.preventDefault();
    to.focus();
  };
  return (
    <section className={css.panel} aria-label={say.problems} data-region tabIndex={-1}>
      <header className={css.head}>
        <h2>{say.problems}</h2>
        <IconButton label={say.closeTheList} onClick={() => setLayout({ problemsOpen: false })}>
          <X size={14} />
        </IconButton>
      </header>
      {problems.length === 0 ? (
        <p className={css.none}>{say.none}</p>
      ) : (
        <ul ref={list} className={css.list} onKeyDown={onKey}>
          {problems.map((problem, n) => (
            <li key={n}>
              <button type="button" onClick={() => onGoTo(problem.path, problem.line, problem.column)}>
                {problem.severity === 'info' ? (
                  <Sparkles size={14} className={css.icon} role="img" aria-label={say.opinion} />
                ) : problem.severity === 'error' ? (
                  <CircleX size={14} className={classes(css.icon, css.error)} role="img" aria-label={say.error} />
                ) : (
                  <TriangleAlert
                    size={14}
                    className={classes(css.icon, css.warning)}
                    role="img"
                    aria-label={say.warning}
                  />
                )}
                <span className={css.message}>{problem.message}</span>
                {problem.code !== '' && <span className={css.code}>{problem.code}</span>}
                <span className={css.place}>
                  {titleOf(problem.path)}:{problem.line}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
