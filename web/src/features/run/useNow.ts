import { useEffect, useState } from 'react';

const step = 15_000;

/** Returns the current time. It is updated every few seconds, so that texts such as "2 min ago" stay correct. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), step);
    return () => clearInterval(timer);
  }, []);
  return now;
}
