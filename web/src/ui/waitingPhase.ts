import { useEffect, useState } from 'react';

/** How long something is waited for by now: not worth a word yet, worth one, or so long that one may ask again. */
export type WaitingPhase = 'silent' | 'loading' | 'still';

export function useWaitingPhase(): WaitingPhase {
  const [phase, setPhase] = useState<WaitingPhase>('silent');
  useEffect(() => {
    const soon = setTimeout(() => setPhase('loading'), 150);
    const late = setTimeout(() => setPhase('still'), 5000);
    return () => {
      clearTimeout(soon);
      clearTimeout(late);
    };
  }, []);
  return phase;
}
