import { useEffect, useState } from 'react';
import type { Attempt } from '../../api/types';
import { proposals as say } from '../../texts/assist';
import css from './Proposal.module.css';

/** Shows the failed attempts while the model makes the next one. */
export function Working({ since, attempts }: { since: number; attempts: readonly Attempt[] }) {
  const seconds = useSeconds(since);
  return (
    <div className={css.working}>
      <p role="status">{say.attempt(attempts.length + 1)}</p>
      <p className={css.quiet}>{say.elapsed(seconds)}</p>
      <Attempts attempts={attempts} />
    </div>
  );
}

export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return null;
  return (
    <ol className={css.attempts} aria-label={say.failedAttempts}>
      {attempts.map(({ n, error, delayMs }) => (
        <li key={n}>
          <span>{error}</span>
          <span className={css.quiet}>{say.delay(delayMs)}</span>
        </li>
      ))}
    </ol>
  );
}

function useSeconds(since: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.floor((now - since) / 1000));
}
