// Which rows of a long list are in sight, so that only these are drawn. All have one height.
import { useLayoutEffect, useState, type RefObject } from 'react';

interface Window {
  first: number;
  /** The one after the last. */
  end: number;
}

/** `row` is the custom property of style that says the height. */
export function useWindow(scroller: RefObject<HTMLElement | null>, row: string, spare: number): Window {
  const [seen, setSeen] = useState<Window>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = (): void => {
      const height = Number.parseFloat(getComputedStyle(element).getPropertyValue(row));
      const first = Math.max(0, Math.floor(element.scrollTop / height) - spare);
      const end = Math.ceil((element.scrollTop + element.clientHeight) / height) + spare;
      setSeen((was) => (was.first === first && was.end === end ? was : { first, end }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller, row, spare]);
  return seen;
}
