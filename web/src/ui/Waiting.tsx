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
  /** The form of what comes, where it is known. */
  shape?: Shape;
  /** Whether it is asked of the server, and may be asked again. */
  retry?: boolean;
}

/**
 * Waiting shows nothing at first, then the form of what comes, and after five seconds offers to try again. It is said once
 * to who does not see it. A page holds back what stands below, which would jump when that comes which is waited for.
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

/** Waits in a line, beside what is shown until then: in the place of what stands there else, once that is worth a word. */
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
