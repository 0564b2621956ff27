import type { ReactNode } from 'react';
import type { Listing } from '../api/listing';
import { common } from '../texts/common';
import { listed as say } from '../texts/ui';
import { Button } from './Button';
import { Waiting } from './Empty';
import field from './Field.module.css';

interface Props<T> {
  listing: Listing<T>;
  /** What is listed, as in "Loading the registry…". */
  what: string;
  /** What to say when there is nothing. */
  empty: ReactNode;
  children: (items: T[]) => ReactNode;
}

/** A list in whatever state it is. */
export function Listed<T>({ listing, what, empty, children }: Props<T>) {
  switch (listing.kind) {
    case 'waiting':
      return <Waiting what={what} onRetry={listing.retry} />;
    case 'failed':
      return (
        <p role="alert" className={field.failed}>
          <span>{say.couldNotLoad(what, listing.message)}</span>
          <Button onClick={listing.retry}>{common.tryAgain}</Button>
        </p>
      );
    case 'loaded':
      return (
        <>
          {listing.items.length === 0 ? empty : children(listing.items)}
          {listing.more && (
            <div>
              <Button disabled={listing.reading} onClick={listing.more}>
                {listing.reading ? say.loading : say.showMore}
              </Button>
            </div>
          )}
        </>
      );
  }
}
