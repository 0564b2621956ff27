// What the screens read of the server, cached by key.
import { QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ApiError, sessionEnded } from './http';
import {
  browseRegistry,
  diff,
  getAgent,
  getCapabilities,
  getSession,
  getVersion,
  listAgents,
  listRuns,
  listSamples,
  listVersions,
} from './verbs';

export const keys = {
  session: ['session'] as const,
  agents: ['agents'] as const,
  registry: (search: string) => ['registry', search] as const,
  agent: (name: string) => ['agent', name] as const,
  versions: (name: string) => ['agent', name, 'versions'] as const,
  version: (name: string, version: string) => ['agent', name, 'versions', version] as const,
  diff: (name: string, from: string, to: string) => ['agent', name, 'diff', from, to] as const,
  runs: (name: string) => ['runs', name] as const,
};

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

// The page then asks to sign in; what is unsaved is kept in the browser and comes back.
sessionEnded.addEventListener('ended', () => void queryClient.invalidateQueries({ queryKey: keys.session }));

const forever = { staleTime: Infinity } as const;

export const useSession = () =>
  useQuery({ queryKey: keys.session, queryFn: ({ signal }) => getSession(signal), staleTime: 60_000 });
export const useCapabilities = () => useQuery({ queryKey: ['capabilities'], queryFn: getCapabilities, ...forever });
export const useSamples = () => useQuery({ queryKey: ['samples'], queryFn: listSamples, ...forever });
export const useAgents = () => useQuery({ queryKey: keys.agents, queryFn: listAgents });
export const useRegistry = (search: string) =>
  useInfiniteQuery({
    queryKey: keys.registry(search),
    queryFn: ({ pageParam }) => browseRegistry(search, pageParam),
    initialPageParam: '',
    getNextPageParam: (page) => (page.nextCursor === '' ? undefined : page.nextCursor),
    placeholderData: (before) => before,
  });
// The draft belongs to its session once it is open, so it is fetched anew for each visit and never behind its back.
export const useAgent = (name: string) =>
  useQuery({
    queryKey: keys.agent(name),
    queryFn: () => getAgent(name),
    gcTime: 0,
    staleTime: Infinity,
    refetchOnReconnect: false,
  });
export const useVersions = (name: string) =>
  useQuery({ queryKey: keys.versions(name), queryFn: () => listVersions(name) });
export const useVersion = (name: string, version: string) =>
  useQuery({ queryKey: keys.version(name, version), queryFn: () => getVersion(name, version), ...forever });
export const useDiff = (name: string, from: string, to: string) =>
  useQuery({ queryKey: keys.diff(name, from, to), queryFn: () => diff(name, from, to), gcTime: 0, staleTime: 0 });
export const useRuns = (name: string) => useQuery({ queryKey: keys.runs(name), queryFn: () => listRuns(name) });

export const refreshAgents = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.agents });
