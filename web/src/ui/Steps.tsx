import { Children, type ReactNode } from 'react';
import css from './Steps.module.css';

/** An empty list that explains how to add the first item: a heading and the steps, one child per step. */
export function Steps({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={css.steps}>
      <h2>{title}</h2>
      <ol>{Children.map(children, (step) => step !== null && <li>{step}</li>)}</ol>
    </div>
  );
}
