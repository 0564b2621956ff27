import type { UseQueryResult } from '@tanstack/react-query';
import field from './Field.module.css';
import { Retry } from './Retry';

interface Props {
  /** The queries whose errors are shown. */
  found: UseQueryResult | readonly UseQueryResult[];
  why: (reason: string) => string;
}

/** Shows why something could not be loaded. If there is no earlier data, it offers another attempt. */
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
