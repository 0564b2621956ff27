import css from './Changes.module.css';

/** Shows a unified diff without the names of its files. */
export function Lines({ text }: { text: string }) {
  const lines = text.trimEnd().split('\n').slice(2); // the names of the two files are shown above
  return (
    <pre className={css.lines}>
      {lines.map((line, i) => (
        <span key={i} className={look(line)}>
          {line === '' ? ' ' : line}
        </span>
      ))}
    </pre>
  );
}

function look(line: string): string | undefined {
  if (line.startsWith('+')) return css.added;
  if (line.startsWith('-')) return css.removed;
  return line.startsWith('@@') ? css.place : undefined;
}
