// Reads paged lists. A screen reads a list with useListing and shows it with <Listed>.
import { useInfiniteQuery } from '@tanstack/react-query';
import { keys } from './queries';
import type { AgentSummary, BlockedRequest, RunSummary } from './types';
import {
  browseRegistry,
  listAgents,
  pageBlocked,
  pageRuns,
  type AgentFilter,
  type ListPage,
  type RegistryFilter,
  type RunFilter,
} from './verbs';

export type Listing<T> =
  | { kind: 'waiting' }
  | { kind: 'failed'; message: string; retry: () => void }
  | {
      kind: 'loaded';
      items: T[];
      /** Reads the next page. It is undefined if there is no next page, and does nothing while a page is being read. */
      more: (() => void) | undefined;
      reading: boolean;
      /** The error of the last attempt to read a page. */
      fault: string | undefined;
    };

const followEvery = 3000;

/** Reads a list page by page. The items of the last answer stay until the next answer arrives. */
export function useListing<T>(
  key: readonly unknown[],
  read: (cursor: string, signal: AbortSignal) => Promise<ListPage<T>>,
  live = false,
): Listing<T> {
  const found = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (page) => (page.nextCursor === '' ? undefined : page.nextCursor),
    placeholderData: (before) => before,
    // Only the first page is read again after changes. Otherwise items would move while the user reads later pages.
    refetchInterval: ({ state }) => live && state.data?.pages.length === 1 && followEvery,
  });
  const retry = (): void => void found.refetch();
  const more = (): void => {
    if (!found.isFetchingNextPage) void found.fetchNextPage();
  };
  if (found.data) {
    return {
      kind: 'loaded',
      items: found.data.pages.flatMap((page) => page.items),
      more: found.hasNextPage ? more : undefined,
      reading: found.isFetchingNextPage,
      fault: found.isFetchNextPageError && !found.isFetchingNextPage ? found.error.message : undefined,
    };
  }
  return found.isError ? { kind: 'failed', message: found.error.message, retry } : { kind: 'waiting' };
}

export const useAgentListing = (filter: AgentFilter): Listing<AgentSummary> =>
  useListing([...keys.agents, filter], (cursor, signal) => listAgents(filter, cursor, signal));

export const useRunListing = (filter: RunFilter): Listing<RunSummary> =>
  useListing([...keys.allRuns, filter], (cursor, signal) => pageRuns(filter, cursor, signal), true);

export const useBlockedListing = (all: boolean): Listing<BlockedRequest> =>
  useListing([...keys.blocked, all], (cursor, signal) => pageBlocked(all, cursor, signal), true);

export const useRegistryListing = (filter: RegistryFilter): Listing<AgentSummary> =>
  useListing([...keys.registry, filter], (cursor, signal) => browseRegistry(filter, cursor, signal));
