import type { ReactNode } from 'react';
import type { Listing } from '../api/listing';
import { listed as say } from '../texts/ui';
import { Button } from './Button';
import { leaveFocus } from './focusBack';
import { Retry } from './Retry';
import { Waiting } from './Waiting';
import field from './Field.module.css';
import type { Shape } from './Skeleton';

interface Props<T> {
  listing: Listing<T>;
  /** The name of the list, for example "the registry". */
  what: string;
  /** The shape of the placeholder while the list is loaded. */
  shape?: Shape;
  /** The text for an empty list. */
  empty: ReactNode;
  children: (items: T[]) => ReactNode;
}

/** Shows a list in any state: loading, failed, empty or loaded. */
export function Listed<T>({ listing, what, shape = 'rows', empty, children }: Props<T>) {
  switch (listing.kind) {
    case 'waiting':
      return <Waiting shape={shape} what={what} retry />;
    case 'failed':
      return (
        <p role="alert" className={field.failed}>
          <span>{say.couldNotLoad(what, listing.message)}</span>
          <Retry onRetry={listing.retry} />
        </p>
      );
    case 'loaded':
      return (
        <>
          {listing.items.length === 0 ? empty : children(listing.items)}
          {listing.more && (
            <div className={field.failed}>
              {listing.fault !== undefined && <p role="alert">{say.moreNotLoaded(listing.fault)}</p>}
              {/* Not disabled while it loads, or it would drop the focus. */}
              <Button ref={leaveFocus} onClick={listing.more}>
                {listing.reading ? say.loading : say.showMore}
              </Button>
            </div>
          )}
        </>
      );
  }
}
