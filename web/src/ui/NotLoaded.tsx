import type { UseQueryResult } from '@tanstack/react-query';
import { common } from '../texts/common';
import { Button } from './Button';
import field from './Field.module.css';

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
      {found.isLoadingError && <Button onClick={() => void found.refetch()}>{common.retry}</Button>}
    </p>
  );
}
