import type { ReactNode } from 'react';
import { askAgain } from '../api/queries';
import { waiting as say } from '../texts/ui';
import { Retry } from './Retry';
import { Skeleton, type Shape } from './Skeleton';
import empty from './Empty.module.css';
import css from './Waiting.module.css';
import { useWaitingPhase } from './waitingPhase';

interface Props {
  what: string;
  /** The shape of the placeholder, if it is known. */
  shape?: Shape;
  /** Whether the wait is for a server request that can be repeated. */
  retry?: boolean;
}

/**
 * Shows nothing at first, then a placeholder, and after five seconds a retry button. Screen readers read it out once.
 * On a page it hides the content below it, because that content would move later.
 */
export function Waiting({ what, shape, retry = false }: Props) {
  const phase = useWaitingPhase();
  const still = phase === 'still';
  const seen = still || shape === undefined;
  return (
    <div className={shape === undefined ? empty.empty : css.drawn} data-waiting={phase}>
      {shape !== undefined && (
        <div aria-busy className={css.form}>
          <Skeleton shape={shape} />
        </div>
      )}
      <p role="status" className={seen ? css.said : 'visually-hidden'}>
        {phase !== 'silent' && (still ? say.stillLoading(what) : say.loading(what))}
      </p>
      {still && retry && <Retry onRetry={() => void askAgain()} />}
    </div>
  );
}

/** A loading text inside a line. It appears after a short delay and replaces the text at its position. */
export function WaitingLine({ what, children }: { what: string; children: ReactNode }) {
  const phase = useWaitingPhase();
  const still = phase === 'still';
  return (
    <>
      {phase === 'silent' && children}
      <p role="status" className={css.line}>
        {phase !== 'silent' && (still ? say.stillLoading(what) : say.loading(what))}
      </p>
      {still && <Retry onRetry={() => void askAgain()} />}
    </>
  );
}
