// Queries for the screens. Their results are cached by key.
import { keepPreviousData, QueryClient, useQuery, type InfiniteData, type Query } from '@tanstack/react-query';
import { useEffect } from 'react';
import { agentHere } from './early';
import { draftArrived } from './leaving';
import { ApiError, sessionEnded, workspaceLost } from './http';
import {
  diff,
  diffApproval,
  getAgent,
  getApproval,
  getCapabilities,
  getDraftRuntime,
  getDraftSave,
  getHealth,
  getListedAgent,
  getListedVersion,
  getQuotas,
  getQuotasOf,
  getRun,
  getSession,
  getToolSet,
  getVerdict,
  getVersion,
  listApprovals,
  listDeliveries,
  listDraftSaves,
  listInvitations,
  listMembers,
  listOwnSessions,
  listPins,
  listRuns,
  listRuntimes,
  listSamples,
  listInstalledPackages,
  listSecrets,
  listSkills,
  listSessions,
  listTags,
  listTokens,
  listToolSets,
  listVersions,
  listWorkspaces,
  type ListPage,
  getUsage,
  listBudgets,
} from './verbs';
import type { Agent, AgentSummary } from './types';
import { chosenWorkspace } from './workspace';

export const keys = {
  session: ['session'] as const,
  agents: ['agents'] as const,
  registry: ['registry'] as const,
  listed: (publisher: string, name: string) => ['registry', publisher, name] as const,
  skills: ['skills'] as const,
  toolSets: ['toolSets'] as const,
  toolSet: (name: string) => ['toolSets', 'one', name] as const,
  approvals: ['approvals'] as const,
  approval: (id: string) => ['approvals', 'one', id] as const,
  blocked: ['blocked'] as const,
  description: (name: string, title: string, text: string) => ['description', name, title, text] as const,
  verdict: (name: string, revision: number) => ['agent', name, 'verdict', revision] as const,
  tokens: ['tokens'] as const,
  secrets: ['secrets'] as const,
  installedPackages: ['packages'] as const,
  unusedPackages: (hours: number) => ['packages', 'unused', hours] as const,
  packageSearch: (language: string, text: string) => ['packages', 'search', language, text] as const,
  packageVersions: (language: string, name: string) => ['packages', 'versions', language, name] as const,
  packageDependencies: (language: string, name: string, version: string) =>
    ['packages', 'dependencies', language, name, version] as const,
  packageTypes: (agent: string, version: string, list: string) => ['packages', 'types', agent, version, list] as const,
  calledAgents: (tools: readonly string[], pinned: string) => ['agents', 'called', ...tools, pinned] as const,
  packageChanges: (agent: string, revision: number) => ['packages', 'changes', agent, revision] as const,
  quotas: ['quotas'] as const,
  quotasOf: (workspace: string) => ['quotas', workspace] as const,
  usage: (month: string) => ['usage', month] as const,
  budgets: ['budgets'] as const,
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
  draftSaves: (name: string) => ['agent', name, 'saves'] as const,
  draftSave: (name: string, revision: number) => ['agent', name, 'saves', revision] as const,
  diffs: (name: string) => ['agent', name, 'diff'] as const,
  diff: (name: string, from: string, to: string) => ['agent', name, 'diff', from, to] as const,
  runs: (name: string) => ['runs', name] as const,
  allRuns: ['allRuns'] as const,
  run: (id: string) => ['run', id] as const,
  children: (id: string) => ['run', id, 'children'] as const,
};

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Without a network, a query would wait without a message. With this setting it fails with a message, and is
      // repeated when the network returns.
      networkMode: 'always',
      refetchOnReconnect: true,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

// After this, the page shows the sign-in form. Unsaved edits are stored in the browser and restored later.
sessionEnded.addEventListener('ended', () => void queryClient.invalidateQueries({ queryKey: keys.session }));

workspaceLost.addEventListener('lost', () => void queryClient.resetQueries());

const forever = { staleTime: Infinity } as const;

export const useSession = () =>
  useQuery({ queryKey: keys.session, queryFn: ({ signal }) => getSession(signal), staleTime: 60_000 });
export const useCapabilities = () => useQuery({ queryKey: ['capabilities'], queryFn: getCapabilities, ...forever });
/** Returns the version of the server's Python, or undefined if it is not known. */
export const usePythonVersion = (): string | undefined =>
  useCapabilities().data?.languages.find(({ language }) => language === 'python')?.engines?.[0]?.version;
export const useHealth = () => useQuery({ queryKey: ['health'], queryFn: getHealth, ...forever });
export const useSamples = () => useQuery({ queryKey: ['samples'], queryFn: listSamples, ...forever });
// A failed query without data is repeated only by the user or when the network returns. A repetition by a timer would
// clear its error message.
const refetchInterval = ({ state }: { state: { data: unknown } }) => (state.data === undefined ? false : 2000);
// The load of the engines changes constantly, so it is read again every two seconds.
export const useRuntimes = () => useQuery({ queryKey: ['runtimes'], queryFn: listRuntimes, refetchInterval });
export const useToolSets = () => useQuery({ queryKey: keys.toolSets, queryFn: listToolSets });
export const useToolSet = (name: string) => useQuery({ queryKey: keys.toolSet(name), queryFn: () => getToolSet(name) });
// The folder of a skill can change on disk at any time, so the list is read again every two seconds.
export const useSkills = () => useQuery({ queryKey: keys.skills, queryFn: listSkills, refetchInterval });
// Other people and programs may create requests at any time, so the list is read again.
const approvalsEvery = 10_000;
export const useApprovals = (status: 'pending' | undefined, enabled = true) =>
  useQuery({
    queryKey: [...keys.approvals, 'list', status ?? 'all'],
    queryFn: () => listApprovals(status),
    refetchInterval: ({ state }) => (state.data === undefined ? false : approvalsEvery),
    enabled,
  });
export const useApproval = (id: string) =>
  useQuery({ queryKey: keys.approval(id), queryFn: () => getApproval(id), staleTime: 0 });
export const refreshApprovals = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.approvals });
export const useDeliveries = (id: string) =>
  useQuery({ queryKey: [...keys.approval(id), 'deliveries'], queryFn: () => listDeliveries(id) });
export const useApprovalDiff = (id: string, enabled: boolean) =>
  useQuery({ queryKey: [...keys.approval(id), 'diff'], queryFn: () => diffApproval(id), retry: false, enabled });
export const refreshBlocked = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.blocked });
/** Reads the tags of all agents, the most frequent first. */
export const useTags = () => useQuery({ queryKey: [...keys.agents, 'tags'], queryFn: listTags });
/** Reads the verdict about the draft in its saved revision. */
export const useVerdict = (name: string, revision: number, enabled: boolean) =>
  useQuery({ queryKey: keys.verdict(name, revision), queryFn: () => getVerdict(name), gcTime: 0, enabled });
export const useTokens = () => useQuery({ queryKey: keys.tokens, queryFn: listTokens });
export const useSecrets = (enabled = true) => useQuery({ queryKey: keys.secrets, queryFn: listSecrets, enabled });
/**
 * Reads the installed packages of the workspace. While packages are being installed, it reads the list again every
 * second.
 */
export const useInstalledPackages = () =>
  useQuery({
    queryKey: [...keys.installedPackages, 'list'],
    queryFn: listInstalledPackages,
    refetchInterval: (query) => ((query.state.data?.running.length ?? 0) > 0 ? 1000 : false),
  });
export const useQuotas = () => useQuery({ queryKey: keys.quotas, queryFn: getQuotas });
/**
 * Reads the quotas of any workspace, for server administrators. The user can edit them, so they are read only once per
 * visit.
 */
export const useQuotasOf = (workspace: string) =>
  useQuery({ queryKey: keys.quotasOf(workspace), queryFn: () => getQuotasOf(workspace), gcTime: 0, ...forever });
export const useUsage = (month: string) => useQuery({ queryKey: keys.usage(month), queryFn: () => getUsage(month) });
/**
 * Reads the budgets of the workspace. Runs of other people use the same budgets, so they are read again every minute. A
 * screen that is about budgets also reads them when it opens.
 */
export const useBudgets = (enabled = true, onOpen = false) =>
  useQuery({
    queryKey: keys.budgets,
    queryFn: listBudgets,
    staleTime: 30_000,
    refetchInterval: 60_000,
    refetchOnMount: onOpen ? 'always' : true,
    enabled,
  });
export const useWorkspaces = () => useQuery({ queryKey: keys.workspaces, queryFn: listWorkspaces });
export const useSessions = () => useQuery({ queryKey: keys.sessions, queryFn: listSessions });
export const useOwnSessions = () => useQuery({ queryKey: keys.ownSessions, queryFn: listOwnSessions });
export const useMembers = () => useQuery({ queryKey: keys.members, queryFn: listMembers });
export const useInvitations = (enabled: boolean) =>
  useQuery({ queryKey: keys.invitations, queryFn: listInvitations, enabled });
// Reads an agent. An open draft belongs to its session: it is read for each visit and never refreshed in the
// background. A version has no session, so its data is refreshed.
export function useAgent(name: string, version: string | undefined) {
  // An agent that was cached before its page rendered, such as a new agent, would count as fresh for minutes although
  // its draft may be old.
  useEffect(() => {
    const left = { queryKey: keys.agent(name), exact: true, type: 'inactive' } as const;
    return () => queueMicrotask(() => queryClient.removeQueries(left)); // the next page may already use the answer
  }, [name]);
  return useQuery({
    queryKey: version === undefined ? keys.agent(name) : keys.facts(name),
    queryFn: async () => {
      await draftArrived(name);
      return getAgent(name);
    },
    gcTime: 0,
    staleTime: Infinity,
    refetchOnReconnect: ({ state }) => state.data === undefined,
  });
}
/** Reads the current state of the agent without its draft: usage, listing, origin and versions. */
export const useFacts = (name: string) => useQuery({ queryKey: keys.facts(name), queryFn: () => getAgent(name) });
/** Minimum age, in milliseconds, of the answer that the draft differs before it is read again after a save. */
const differsFor = 5_000;
/** Reads whether the draft differs from the latest version, and again after each save of the draft. */
export function useUnpublished(name: string, latest: string, saved: boolean, enabled: boolean): boolean | undefined {
  const queryKey = [...keys.diffs(name), 'changed', latest];
  useEffect(() => {
    if (!saved) return;
    const state = queryClient.getQueryState<boolean>(queryKey);
    const wait = state?.data === true ? Math.max(0, state.dataUpdatedAt + differsFor - Date.now()) : 0;
    const timer = setTimeout(() => void queryClient.invalidateQueries({ queryKey }), wait);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key is of the name and the version
  }, [name, latest, saved]);
  return useQuery({
    queryKey,
    queryFn: async () => {
      const { advice, files, settings } = await diff(name, latest, 'draft');
      return advice.bump !== 'none' || files.length > 0 || settings.length > 0;
    },
    staleTime: Infinity,
    enabled,
  }).data;
}
export const useVersions = (name: string) =>
  useQuery({ queryKey: keys.versions(name), queryFn: () => listVersions(name) });
export const useDraftSaves = (name: string) =>
  useQuery({ queryKey: keys.draftSaves(name), queryFn: () => listDraftSaves(name), staleTime: 0 });
/** Reads a save of the draft, and the agent whose draft a restore would replace. */
export const useDraftSave = (name: string, revision: number) =>
  useQuery({
    queryKey: keys.draftSave(name, revision),
    queryFn: async () => {
      const [save, agent] = await Promise.all([getDraftSave(name, revision), getAgent(name)]);
      return { save, agent };
    },
    gcTime: 0,
    staleTime: 0,
  });
/** Reads an agent of the public registry. */
export const useListedAgent = (publisher: string, name: string) =>
  useQuery({ queryKey: keys.listed(publisher, name), queryFn: () => getListedAgent(publisher, name) });
/**
 * Reads a version of a listed agent. While another version is loaded, the previous one stays, so that the focus is not
 * lost.
 */
export const useListedVersion = (publisher: string, name: string, version: string) =>
  useQuery({
    queryKey: [...keys.listed(publisher, name), version],
    queryFn: () => getListedVersion(publisher, name, version),
    enabled: version !== '',
    placeholderData: keepPreviousData,
    ...forever,
  });
export const usePins = (name: string) => useQuery({ queryKey: keys.pins(name), queryFn: () => listPins(name) });
export const useVersion = (name: string, version: string) =>
  useQuery({ queryKey: keys.version(name, version), queryFn: () => getVersion(name, version), ...forever });
/** Reads a version once. Versions never change. */
export const readVersion = (name: string, version: string) =>
  queryClient.query({
    queryKey: keys.version(name, version),
    queryFn: () => getVersion(name, version),
    staleTime: 'static',
  });
export const useDiff = (name: string, from: string, to: string, read = () => diff(name, from, to)) =>
  useQuery({ queryKey: keys.diff(name, from, to), queryFn: read, gcTime: 0, staleTime: 0 });
/** Reads the runtime that "auto" selects for the saved draft. */
export const useDraftRuntime = (name: string, enabled: boolean) =>
  useQuery({
    queryKey: keys.draftRuntime(name),
    queryFn: () => getDraftRuntime(name),
    gcTime: 0,
    staleTime: 0,
    enabled,
  });
/** Reads a run, and reads it again until it has ended. */
export const useRunState = (id: string) =>
  useQuery({
    queryKey: keys.run(id),
    queryFn: () => getRun(id),
    refetchInterval: ({ state }) => (state.data && /^(queued|running)$/.test(state.data.status) ? 1000 : false),
  });
export const useRuns = (name: string) => useQuery({ queryKey: keys.runs(name), queryFn: () => listRuns(name) });

/** Whether the page of an agent can render immediately, because the early answers have arrived. */
export async function knowEarly(): Promise<boolean> {
  const name = agentHere(chosenWorkspace());
  if (name === undefined) return false;
  const [session, agent] = await Promise.all([getSession(), getAgent(name)]);
  queryClient.setQueryData(keys.session, session);
  queryClient.setQueryData(keys.agent(name), agent);
  queryClient.setQueryData(keys.facts(name), agent);
  return true;
}

/** Restarts all pending queries. It cancels a request that does not get an answer; refetch alone would wait for it. */
export async function askAgain(): Promise<void> {
  const unanswered = { type: 'active', predicate: ({ state }: Query) => state.data === undefined } as const;
  await queryClient.cancelQueries(unanswered);
  await queryClient.refetchQueries(unanswered);
}

/** Marks the data about an agent as outdated. Call it after a change of an agent outside its draft. */
export function refreshFacts(name: string): void {
  const changed = [keys.facts, keys.versions, keys.pins, keys.diffs, keys.draftSaves].map((key) => key(name));
  for (const queryKey of [...changed, keys.agents]) void queryClient.invalidateQueries({ queryKey });
}

export const refreshToolSets = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.toolSets });
export const refreshSkills = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.skills });
export const refreshSessions = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.sessions });
export const refreshPackages = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.installedPackages });
export const refreshSecrets = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.secrets });
export const refreshBudgets = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.budgets });
export const refreshQuotas = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.quotas });
/** Marks the workspaces as outdated, also those in the list of accessible workspaces. */
export async function refreshWorkspaces(): Promise<void> {
  await Promise.all([keys.workspaces, keys.session].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
export const refreshTokens = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.tokens });
/** Updates the cache after a rename. Lists show the new name immediately, and data under the old name is removed. */
export function agentRenamed(agent: Agent, former: string): void {
  const renamed = (item: AgentSummary): AgentSummary => (item.id === agent.id ? { ...item, name: agent.name } : item);
  for (const queryKey of [keys.agents, keys.registry]) {
    queryClient.setQueriesData<InfiniteData<ListPage<AgentSummary>>>(
      { queryKey, predicate: isListing },
      (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, items: page.items.map(renamed) })) },
    );
    void queryClient.invalidateQueries({ queryKey });
  }
  for (const name of [former, agent.name]) {
    queryClient.removeQueries({ queryKey: keys.agent(name), type: 'inactive' });
    queryClient.removeQueries({ queryKey: keys.facts(name), type: 'inactive' });
    refreshFacts(name);
  }
}

/** The key matches the lists of the registry and the agents of the registry. */
const isListing = ({ queryKey }: { queryKey: readonly unknown[] }): boolean => typeof queryKey[1] === 'object';

export const refreshAgents = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.agents });

export const refreshMembers = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.members });
export const refreshInvitations = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.invitations });
