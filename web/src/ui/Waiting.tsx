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
  /** The placeholder shape, if it is known. */
  shape?: Shape;
  /** Whether it waits for a server request that can be repeated. */
  retry?: boolean;
}

/**
 * Shows nothing at first, then a placeholder, and after five seconds a retry button. Screen readers announce it once.
 * On a page it hides the content below, which would jump later.
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

/** An inline loading text. It replaces the text at its place after a short delay. */
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
