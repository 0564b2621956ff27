import { Children, type ReactNode } from 'react';
import css from './Steps.module.css';

interface Props {
  title: string;
  children: ReactNode;
  /** A button below the text. */
  action?: ReactNode;
}

/** A box in the place of an empty list: a heading and an explanation. */
export function EmptyBox({ title, children, action }: Props) {
  return (
    <div className={css.box}>
      <h2>{title}</h2>
      {children}
      {action !== undefined && <div>{action}</div>}
    </div>
  );
}

/** An empty list that explains how to add the first item: a heading and the steps, one child per step. */
export function Steps({ children, ...box }: Props) {
  return (
    <EmptyBox {...box}>
      <ol>{Children.map(children, (step) => step !== null && <li>{step}</li>)}</ol>
    </EmptyBox>
  );
}
