import { useLayoutEffect, useState, type RefObject } from 'react';

/** Whether an element has at least this width. The value is updated when the width changes. */
export function useWide(element: RefObject<HTMLElement | null>, least: number): boolean {
  const [wide, setWide] = useState(true);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    const look = (): void => setWide(current.clientWidth >= least);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element, least]);
  return wide;
}
