// Determines the visible rows of a long list, so that only these rows are drawn. All rows have the same height.
import { useLayoutEffect, useState, type RefObject } from 'react';

interface Window {
  first: number;
  /** The index after the last visible row. */
  end: number;
}

// This height in rows is enough for most screens. A measurement at this moment would force the browser to compute a
// layout that will change immediately.
const atFirst: Window = { first: 0, end: 40 };

/** Returns the visible rows. `row` is the name of the CSS variable that contains the height of a row. */
export function useWindow(scroller: RefObject<HTMLElement | null>, row: string, spare: number): Window {
  const [seen, setSeen] = useState(atFirst);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = (): void => {
      const height = Number.parseFloat(getComputedStyle(element).getPropertyValue(row));
      const first = Math.max(0, Math.floor(element.scrollTop / height) - spare);
      const end = Math.ceil((element.scrollTop + element.clientHeight) / height) + spare;
      setSeen((was) => (was.first === first && was.end === end ? was : { first, end }));
    };
    const observer = new ResizeObserver(look); // an observer also calls its function once at the start, after the layout
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller, row, spare]);
  return seen;
}
