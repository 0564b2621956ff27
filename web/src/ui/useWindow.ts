// The visible rows of a long list, so that only these are drawn. All rows have the same height.
import { useLayoutEffect, useState, type RefObject } from 'react';

interface Window {
  first: number;
  /** The end index, exclusive. */
  end: number;
}

// Fits most screens. Measuring at once would force a layout of a page that is about to change.
const atFirst: Window = { first: 0, end: 40 };

/** `row` names the CSS variable with the height. */
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
    const observer = new ResizeObserver(look); // an observer also fires once at its start, after layout
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller, row, spare]);
  return seen;
}
