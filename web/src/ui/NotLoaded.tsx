import type { UseQueryResult } from '@tanstack/react-query';
import field from './Field.module.css';
import { Retry } from './Retry';

interface Props {
  found: UseQueryResult;
  why: (reason: string) => string;
}

/** Why something could not be loaded, and, where there is nothing of it from before, a way to ask again. */
export function NotLoaded({ found, why }: Props) {
  if (!found.isError) return null;
  return (
    <p role="alert" className={field.failed}>
      <span>{why(found.error.message)}</span>
      {found.isLoadingError && <Retry onRetry={() => void found.refetch()} />}
    </p>
  );
}
