import { useState, type ReactNode } from 'react';
import { few as say } from '../texts/ui';
import { Button } from './Button';

interface Props<T> {
  items: readonly T[];
  /** The number of items that are shown at first. */
  most: number;
  children: (shown: readonly T[]) => ReactNode;
}

/**
 * Shows the first items of a list, and a button that shows the others. A list inside a page has no separate scrollbar.
 */
export function Few<T>({ items, most, children }: Props<T>) {
  const [all, setAll] = useState(false);
  return (
    <>
      {children(all ? items : items.slice(0, most))}
      {items.length > most && (
        <div>
          <Button look="link" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? say.showFewer : say.showAll(items.length)}
          </Button>
        </div>
      )}
    </>
  );
}
