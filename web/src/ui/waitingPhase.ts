import { useEffect, useState } from 'react';

/** The phase of a wait: too short to mention, worth a text, or long enough for a retry. */
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
