import { useState, type ReactNode } from 'react';
import { few as say } from '../texts/ui';
import { Button } from './Button';

interface Props<T> {
  items: readonly T[];
  /** How many are shown until all are asked for. */
  most: number;
  children: (shown: readonly T[]) => ReactNode;
}

/** The first items of a list, and the rest when somebody asks: a list within a page has no scrollbar of its own. */
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
