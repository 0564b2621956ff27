// Which rows of a long list are in sight, so that only these are drawn. All have one height.
import { useLayoutEffect, useState, type RefObject } from 'react';

interface Window {
  first: number;
  /** The one after the last. */
  end: number;
}

// What fits most screens. Measuring at once would have the browser lay out a page that is about to change.
const atFirst: Window = { first: 0, end: 40 };

/** `row` is the custom property of style that says the height. */
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
    const observer = new ResizeObserver(look); // which is also told once it observes, when the frame is laid out
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller, row, spare]);
  return seen;
}
