import { useEffect, useState } from 'react';

/** Returns the phase of a wait: too short for a text, long enough for a text, or long enough for a retry button. */
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
