import type { UseQueryResult } from '@tanstack/react-query';
import field from './Field.module.css';
import { Retry } from './Retry';

interface Props {
  /** What was asked for, or all of it where one thing is made of several. */
  found: UseQueryResult | readonly UseQueryResult[];
  why: (reason: string) => string;
}

/** Why something could not be loaded, and, where there is nothing of it from before, a way to ask again. */
export function NotLoaded({ found, why }: Props) {
  const failed = [found].flat().filter(({ isError }) => isError);
  const error = failed[0]?.error;
  if (!error) return null;
  const missing = failed.filter(({ isLoadingError }) => isLoadingError);
  return (
    <p role="alert" className={field.failed}>
      <span>{why(error.message)}</span>
      {missing.length > 0 && <Retry onRetry={() => missing.forEach((one) => void one.refetch())} />}
    </p>
  );
}
