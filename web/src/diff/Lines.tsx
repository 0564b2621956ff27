import { useMemo } from 'react';
import css from './Changes.module.css';
import { linesOf } from './unified';

/**
 * Shows a unified diff without the file names. The style sheet adds the line numbers, so that copied text does not
 * contain them.
 */
export function Lines({ text }: { text: string }) {
  const lines = useMemo(() => linesOf(text), [text]);
  return (
    <pre className={css.lines} data-one-sided={lines.every(({ kind }) => kind === 'added')}>
      {lines.map(({ kind, before, after, text: line }, i) => (
        <span key={i} data-kind={kind} data-before={before ?? ''} data-after={after ?? ''}>
          {line === '' ? ' ' : line}
        </span>
      ))}
    </pre>
  );
}
