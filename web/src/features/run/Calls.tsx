import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { keys } from '../../api/queries';
import type { RunAnswer } from '../../api/types';
import { listChildren } from '../../api/verbs';
import { finalStatus } from '../../agent/runStatus';
import { runUrl } from '../../state/urlState';
import { milliseconds } from '../../texts/format';
import { calls as say } from '../../texts/runs';
import css from './Calls.module.css';

/** Shows the run that called this run, and the runs that this run called. Shows nothing if there are none. */
export function Calls({ answer }: { answer: RunAnswer }) {
  const found = useQuery({ queryKey: keys.children(answer.runId), queryFn: () => listChildren(answer.runId) });
  const children = found.data ?? [];
  if (answer.parentRunId === null && children.length === 0) return null;
  return (
    <section aria-label={say.title}>
      <h2>{say.title}</h2>
      {answer.parentRunId !== null && (
        <p>
          <Link href={runUrl(answer.parentRunId)}>{say.parent}</Link>
        </p>
      )}
      {children.length > 0 && (
        <ol className={css.calls}>
          {children.map((child) => {
            const { text, look } = finalStatus(child);
            return (
              <li key={child.runId}>
                <Link href={runUrl(child.runId)}>{say.child(child.agent, child.version)}</Link>
                <span data-look={look}>{text}</span>
                <span>{milliseconds(child.totalMs)}</span>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
