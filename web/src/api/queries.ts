// What the screens read of the server, cached by key.
import { QueryClient, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { agentHere } from './early';
import { ApiError, sessionEnded, workspaceLost } from './http';
import {
  diff,
  getAgent,
  getCapabilities,
  getDraftRuntime,
  getHealth,
  getQuotas,
  getQuotasOf,
  getSession,
  getVersion,
  listInvitations,
  listMembers,
  listOwnSessions,
  listPins,
  listRuns,
  listRuntimes,
  listSamples,
  listSecrets,
  listSkills,
  listSessions,
  listTokens,
  listVersions,
  listWorkspaces,
} from './verbs';
import { chosenWorkspace } from './workspace';

export const keys = {
  session: ['session'] as const,
  agents: ['agents'] as const,
  registry: ['registry'] as const,
  skills: ['skills'] as const,
  tokens: ['tokens'] as const,
  secrets: ['secrets'] as const,
  quotas: ['quotas'] as const,
  quotasOf: (workspace: string) => ['quotas', workspace] as const,
  workspaces: ['workspaces'] as const,
  sessions: ['sessions'] as const,
  ownSessions: ['sessions', 'own'] as const,
  members: ['members'] as const,
  invitations: ['invitations'] as const,
  agent: (name: string) => ['agent', name] as const,
  facts: (name: string) => ['facts', name] as const,
  pins: (name: string) => ['agent', name, 'pins'] as const,
  versions: (name: string) => ['agent', name, 'versions'] as const,
  version: (name: string, version: string) => ['agent', name, 'versions', version] as const,
  draftRuntime: (name: string) => ['agent', name, 'runtime'] as const,
  diffs: (name: string) => ['agent', name, 'diff'] as const,
  diff: (name: string, from: string, to: string) => ['agent', name, 'diff', from, to] as const,
  runs: (name: string) => ['runs', name] as const,
  allRuns: ['allRuns'] as const,
  run: (id: string) => ['run', id] as const,
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

workspaceLost.addEventListener('lost', () => void queryClient.resetQueries());

const forever = { staleTime: Infinity } as const;

export const useSession = () =>
  useQuery({ queryKey: keys.session, queryFn: ({ signal }) => getSession(signal), staleTime: 60_000 });
export const useCapabilities = () => useQuery({ queryKey: ['capabilities'], queryFn: getCapabilities, ...forever });
/** Of the Python that runs programs here, where the server knows it. */
export const usePythonVersion = (): string | undefined =>
  useCapabilities().data?.languages.find(({ language }) => language === 'python')?.engines?.[0]?.version;
export const useHealth = () => useQuery({ queryKey: ['health'], queryFn: getHealth, ...forever });
export const useSamples = () => useQuery({ queryKey: ['samples'], queryFn: listSamples, ...forever });
// Engines are busy or not from one moment to the next.
export const useRuntimes = () => useQuery({ queryKey: ['runtimes'], queryFn: listRuntimes, refetchInterval: 2000 });
// Folders change behind the page's back.
export const useSkills = () => useQuery({ queryKey: keys.skills, queryFn: listSkills, refetchInterval: 2000 });
export const useTokens = () => useQuery({ queryKey: keys.tokens, queryFn: listTokens });
export const useSecrets = (enabled = true) => useQuery({ queryKey: keys.secrets, queryFn: listSecrets, enabled });
export const useQuotas = () => useQuery({ queryKey: keys.quotas, queryFn: getQuotas });
/** Those of any workspace, for who runs the server. They are edited, so they are read anew each time and then stay. */
export const useQuotasOf = (workspace: string) =>
  useQuery({ queryKey: keys.quotasOf(workspace), queryFn: () => getQuotasOf(workspace), gcTime: 0, ...forever });
export const useWorkspaces = () => useQuery({ queryKey: keys.workspaces, queryFn: listWorkspaces });
export const useSessions = () => useQuery({ queryKey: keys.sessions, queryFn: listSessions });
export const useOwnSessions = () => useQuery({ queryKey: keys.ownSessions, queryFn: listOwnSessions });
export const useMembers = () => useQuery({ queryKey: keys.members, queryFn: listMembers });
export const useInvitations = (enabled: boolean) =>
  useQuery({ queryKey: keys.invitations, queryFn: listInvitations, enabled });
// The draft belongs to its session once it is open, so it is fetched anew for each visit and never behind its back. A
// version takes part in no session: what is beside it is what the server has now.
export function useAgent(name: string, version: string | undefined) {
  // What was put here before its page was drawn, as a new agent is, would be kept for minutes, and its draft be old.
  useEffect(() => {
    const left = { queryKey: keys.agent(name), exact: true, type: 'inactive' } as const;
    return () => queueMicrotask(() => queryClient.removeQueries(left)); // the next page may have taken it over
  }, [name]);
  return useQuery({
    queryKey: version === undefined ? keys.agent(name) : keys.facts(name),
    queryFn: () => getAgent(name),
    gcTime: 0,
    staleTime: Infinity,
    refetchOnReconnect: false,
  });
}
/** The agent as the server has it now, for what is no draft: usage, listing, origin, versions. */
export const useFacts = (name: string) => useQuery({ queryKey: keys.facts(name), queryFn: () => getAgent(name) });
export const useVersions = (name: string) =>
  useQuery({ queryKey: keys.versions(name), queryFn: () => listVersions(name) });
export const usePins = (name: string) => useQuery({ queryKey: keys.pins(name), queryFn: () => listPins(name) });
export const useVersion = (name: string, version: string) =>
  useQuery({ queryKey: keys.version(name, version), queryFn: () => getVersion(name, version), ...forever });
export const useDiff = (name: string, from: string, to: string) =>
  useQuery({ queryKey: keys.diff(name, from, to), queryFn: () => diff(name, from, to), gcTime: 0, staleTime: 0 });
/** What auto means for the draft as the server has it. */
export const useDraftRuntime = (name: string, enabled: boolean) =>
  useQuery({
    queryKey: keys.draftRuntime(name),
    queryFn: () => getDraftRuntime(name),
    gcTime: 0,
    staleTime: 0,
    enabled,
  });
export const useRuns = (name: string) => useQuery({ queryKey: keys.runs(name), queryFn: () => listRuns(name) });

/** Whether an agent's page can be drawn at once: the answers that were asked early are here, and the screens know them. */
export async function knowEarly(): Promise<boolean> {
  const name = agentHere(chosenWorkspace());
  if (name === undefined) return false;
  const [session, agent] = await Promise.all([getSession(), getAgent(name)]);
  queryClient.setQueryData(keys.session, session);
  queryClient.setQueryData(keys.agent(name), agent);
  queryClient.setQueryData(keys.facts(name), agent);
  return true;
}

/** After something about an agent changed that is no draft. */
export function refreshFacts(name: string): void {
  for (const queryKey of [keys.facts(name), keys.versions(name), keys.pins(name), keys.diffs(name), keys.agents])
    void queryClient.invalidateQueries({ queryKey });
}

export const refreshSkills = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.skills });
export const refreshSessions = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.sessions });
export const refreshSecrets = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.secrets });
export const refreshQuotas = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.quotas });
/** Also which of them one may enter. */
export async function refreshWorkspaces(): Promise<void> {
  await Promise.all([keys.workspaces, keys.session].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
export const refreshTokens = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.tokens });
export const refreshAgents = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.agents });

export const refreshMembers = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.members });
export const refreshInvitations = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.invitations });
