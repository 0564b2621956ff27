// Contains the API calls of the Studio, one function per endpoint.
import { basePath } from './base';
import { apiBase, request, requestWithHeaders } from './http';
import { isObject, parseJson, type Json, type JsonObject } from './json';
import { inWorkspace } from './workspace';
import type {
  CollectedPackages,
  About,
  Agent,
  AgentBody,
  AgentSummary,
  Approval,
  ApprovalDetails,
  AwaitedPublication,
  BlockedRequest,
  Budget,
  BudgetBody,
  Capabilities,
  Delivery,
  Diff,
  Draft,
  DraftRuntime,
  DraftSave,
  Files,
  Formatted,
  FoundPackage,
  GeneratedTests,
  Health,
  ImportToolBody,
  Inferred,
  InstalledPackages,
  Invitation,
  Invited,
  JsonSchema,
  Language,
  ListedAgent,
  SignInMethods,
  Member,
  NewInvitation,
  NewToken,
  OpenSession,
  OwnQuota,
  PackageDependency,
  PackageTypes,
  Pin,
  Quotas,
  ReplayReport,
  ResolvedPackages,
  Role,
  Rules,
  Run,
  RunAnswer,
  RunSummary,
  RuntimeList,
  Sample,
  Secret,
  SecretBody,
  Session,
  Skill,
  SkillList,
  TestsReport,
  Token,
  TokenBody,
  ToolSet,
  ToolSetBody,
  Usage,
  Validation,
  Verdict,
  Version,
  VersionSummary,
  Workspace,
} from './types';

interface Page<T> {
  items: T[];
  nextCursor?: string;
}

const agentPath = (agent: string): string => `/code-agents/${encodeURIComponent(agent)}`;
const versionPath = (agent: string, version: string): string =>
  `${agentPath(agent)}/versions/${encodeURIComponent(version)}`;

export const getSession = (signal?: AbortSignal): Promise<Session> => request('/session', signal ? { signal } : {});
export const listSignInMethods = (): Promise<SignInMethods> => request('/session/methods');
export const signIn = (token: string): Promise<null> => request('/session', { method: 'POST', body: { token } });
export const signInByPassword = (name: string, password: string): Promise<null> =>
  request('/session', { method: 'POST', body: { name, password } });
export const changePassword = (current: string, next: string): Promise<null> =>
  request('/me/password', { method: 'PUT', body: { current, new: next } });
export async function listOwnSessions(): Promise<OpenSession[]> {
  return (await request<Page<OpenSession>>('/me/sessions')).items;
}
export const endOwnSession = (id: string): Promise<null> => request(`/me/sessions/${id}`, { method: 'DELETE' });
export async function listMembers(): Promise<Member[]> {
  return (await request<Page<Member>>('/members')).items;
}
export const setRole = (user: string, role: Role): Promise<null> =>
  request(`/members/${user}`, { method: 'PATCH', body: { role } });
export const removeMember = (user: string): Promise<null> => request(`/members/${user}`, { method: 'DELETE' });
export async function listInvitations(): Promise<Invitation[]> {
  return (await request<Page<Invitation>>('/invitations')).items;
}
export const createInvitation = (role: Role, note: string): Promise<NewInvitation> =>
  request('/invitations', { method: 'POST', body: { role, note } });
export const revokeInvitation = (id: string): Promise<null> => request(`/invitations/${id}`, { method: 'DELETE' });
export const readInvitation = (secret: string): Promise<Invited> =>
  request('/invitations/read', { method: 'POST', body: { secret } });
export const acceptInvitation = (
  body: { secret: string } & ({ signedIn: true } | { name: string; title: string; password: string }),
): Promise<null> => request('/invitations/accept', { method: 'POST', body });
export const signOut = (): Promise<null> => request('/session', { method: 'DELETE' });
export const getDraftRuntime = (agent: string): Promise<DraftRuntime> => request(`${agentPath(agent)}/runtime`);
export const getHealth = (): Promise<Health> => request('/health', { root: basePath });
export const getCapabilities = (): Promise<Capabilities> => request('/capabilities');

export async function listSamples(): Promise<Sample[]> {
  return (await request<Page<Sample>>('/samples')).items;
}

/** One page of a list. An empty cursor means that there is no next page. */
export interface ListPage<T> {
  items: T[];
  nextCursor: string;
}

async function readPage<T>(path: string, query: Record<string, string>, signal: AbortSignal): Promise<ListPage<T>> {
  const said = Object.entries(query).filter(([, value]) => value !== '');
  const page = await request<Page<T>>(`${path}?${new URLSearchParams(said).toString()}`, { signal });
  return { items: page.items, nextCursor: page.nextCursor ?? '' };
}

/** Filters for the public registry. A missing filter selects all agents. */
export interface RegistryFilter {
  search?: string;
  language?: Language;
  tag?: string;
}

/** Filters for the agent list. An empty filter selects all agents. */
export interface AgentFilter {
  search?: string;
  inCode?: boolean;
  state?: '' | AgentSummary['state'] | 'deleted';
  tag?: string;
  view?: '' | 'mine' | 'changed' | 'failing';
  unusedSince?: string;
  order?: 'name' | 'updated';
}

export const listAgents = (
  { search = '', inCode = false, state = '', tag = '', view = '', unusedSince = '', order = 'name' }: AgentFilter,
  cursor: string,
  signal: AbortSignal,
): Promise<ListPage<AgentSummary>> =>
  readPage(
    '/code-agents',
    { limit: '50', q: search.trim(), code: inCode ? 'true' : '', state, tag, view, unusedSince, order, cursor },
    signal,
  );

export const listTags = async (): Promise<{ tag: string; count: number }[]> =>
  (await request<{ tags?: { tag: string; count: number }[] }>('/code-agents?limit=1&withTags=true')).tags ?? [];

export const getAgent = (agent: string): Promise<Agent> => request(agentPath(agent));
export const getDraftSave = (agent: string, revision: number): Promise<Draft> =>
  request(`${agentPath(agent)}/draft/history/${revision}`);
/** Lists the saves of a draft, newest first. The server keeps at most 100 saves, which fit on one page. */
export async function listDraftSaves(agent: string): Promise<DraftSave[]> {
  return (await request<Page<DraftSave>>(`${agentPath(agent)}/draft/history?limit=100`)).items;
}
/** Sets the label of a save. An empty text removes the label. */
export const labelDraftSave = (agent: string, revision: number, label: string): Promise<null> =>
  request(`${agentPath(agent)}/draft/history/${revision}`, { method: 'PATCH', body: { label } });
/** Replaces the draft by an earlier save. `current` is the revision that is replaced. */
export const restoreDraftSave = (agent: string, current: number, revision: number): Promise<Agent> =>
  request(`${agentPath(agent)}/draft/history/${revision}/restore`, {
    method: 'POST',
    headers: { 'If-Match': `"${current}"` },
  });
export const createAgent = (body: AgentBody): Promise<Agent> => request('/code-agents', { method: 'POST', body });
/** Creates an agent from the definition of a tool of another system. */
export const importTool = (body: ImportToolBody): Promise<Agent> =>
  request('/code-agents/import-tool', { method: 'POST', body });
/**
 * Deletes an agent. With a comment, the server deletes the agent even if others reference it, and stores the comment.
 */
export function deleteAgent(agent: string, comment: string): Promise<null> {
  const force = comment === '' ? '' : `?${new URLSearchParams({ force: 'true', comment }).toString()}`;
  return request(agentPath(agent) + force, { method: 'DELETE' });
}
export const restoreAgent = (agent: string): Promise<Agent> =>
  request(`${agentPath(agent)}/restore`, { method: 'POST' });
export const renameAgent = (agent: string, name: string): Promise<Agent> =>
  request(agentPath(agent), { method: 'PATCH', body: { name } });
export const copyAgent = (agent: string, name: string): Promise<Agent> =>
  request(`${agentPath(agent)}/copy`, { method: 'POST', body: { name } });
/** Replaces the draft by a version. `revision` is the revision that is replaced. */
export const redraft = (agent: string, revision: number, from: string): Promise<Agent> =>
  request(`${agentPath(agent)}/draft`, {
    method: 'POST',
    headers: { 'If-Match': `"${revision}"` },
    body: { from },
  });

export function saveAgent(id: string, about: About, draft: Draft, signal?: AbortSignal): Promise<Agent> {
  const { revision, savedAt: _at, savedBy: _by, ...fields } = draft;
  // The body does not contain the name. Only a rename may change it, and another tab may have renamed the agent.
  const { title, description, tags, metadata } = about;
  return request(agentPath(id), {
    method: 'PUT',
    headers: { 'If-Match': `"${revision}"` },
    body: { title, description, tags, metadata, ...fields },
    ...(signal ? { signal } : {}),
  });
}

/** Returns a page of the public registry. An agent must contain every word of the search. */
export const browseRegistry = (
  { search = '', language, tag = '' }: RegistryFilter,
  cursor: string,
  signal: AbortSignal,
): Promise<ListPage<AgentSummary>> =>
  readPage('/code-agents/registry', { limit: '50', q: search.trim(), language: language ?? '', tag, cursor }, signal);
const listedPath = (publisher: string, name: string): string =>
  `/code-agents/registry/${encodeURIComponent(publisher)}/${encodeURIComponent(name)}`;
export const getListedAgent = (publisher: string, name: string): Promise<ListedAgent> =>
  request(listedPath(publisher, name));
export const getListedVersion = (publisher: string, name: string, version: string): Promise<Version> =>
  request(`${listedPath(publisher, name)}/versions/${encodeURIComponent(version)}`);
export const listInRegistry = (agent: string, listed: boolean): Promise<Agent> =>
  request(`${agentPath(agent)}/publish`, { method: 'POST', body: { public: listed } });
const toolSetPath = (name: string): string => `/tool-sets/${encodeURIComponent(name)}`;
export async function listToolSets(): Promise<ToolSet[]> {
  return (await request<Page<ToolSet>>('/tool-sets')).items;
}
export const getToolSet = (name: string): Promise<ToolSet> => request(toolSetPath(name));
/** Creates a tool set, or replaces the tool set with the same name. */
export const putToolSet = (name: string, body: ToolSetBody): Promise<ToolSet> =>
  request(toolSetPath(name), { method: 'PUT', body });
export const deleteToolSet = (name: string): Promise<null> => request(toolSetPath(name), { method: 'DELETE' });
export const listSkills = (): Promise<SkillList> => request('/skills');
export const promoteSkill = (name: string): Promise<Skill> =>
  request(`/skills/${encodeURIComponent(name)}/promote`, { method: 'POST', body: {} });
/** Deletes a version. With `force`, it deletes the version even if others reference it. */
export const uninstallSkill = (name: string, force: boolean): Promise<null> =>
  request(`/skills/${encodeURIComponent(name)}${force ? '?force=true' : ''}`, { method: 'DELETE' });
export async function listSessions(): Promise<OpenSession[]> {
  return (await request<Page<OpenSession>>('/sessions')).items;
}
export const endSession = (id: string): Promise<null> =>
  request(`/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' });
export async function listTokens(): Promise<Token[]> {
  return (await request<Page<Token>>('/tokens')).items;
}
export const createToken = (body: TokenBody): Promise<NewToken> => request('/tokens', { method: 'POST', body });
export const revokeToken = (id: string): Promise<null> =>
  request(`/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' });
export async function listSecrets(): Promise<Secret[]> {
  return (await request<Page<Secret>>('/secrets')).items;
}
/** Sets a secret. Without an agent, the secret belongs to the workspace. */
const secretPath = (name: string, agent: string): string =>
  `/secrets/${encodeURIComponent(name)}${agent === '' ? '' : `?agent=${encodeURIComponent(agent)}`}`;
export const setSecret = (name: string, agent: string, body: SecretBody): Promise<Secret> =>
  request(secretPath(name, agent), { method: 'PUT', body });
export const removeSecret = (name: string, agent: string): Promise<null> =>
  request(secretPath(name, agent), { method: 'DELETE' });
export const getQuotas = (): Promise<Quotas> => request('/quotas');
const quotasPath = (workspace: string): string => `/quotas/${encodeURIComponent(workspace)}`;
export const getQuotasOf = (workspace: string): Promise<Quotas> => request(quotasPath(workspace));
export const setQuotas = (workspace: string, own: OwnQuota): Promise<Quotas> =>
  request(quotasPath(workspace), { method: 'PUT', body: own });
export const getUsage = (month: string): Promise<Usage> => request(`/usage?month=${encodeURIComponent(month)}`);
/** Returns the URL from which the browser downloads the usage of a month as a table. */
export const usageTableUrl = (month: string): string =>
  inWorkspace(`${apiBase}/usage?format=csv&month=${encodeURIComponent(month)}`);
export async function listBudgets(): Promise<Budget[]> {
  return (await request<Page<Budget>>('/budgets')).items;
}
const budgetPath = (name: string): string => `/budgets/${encodeURIComponent(name)}`;
/** Creates a budget, or replaces the budget with the same name. */
export const setBudget = (name: string, body: BudgetBody): Promise<Budget> =>
  request(budgetPath(name), { method: 'PUT', body });
export const removeBudget = (name: string): Promise<null> => request(budgetPath(name), { method: 'DELETE' });
const workspacePath = (workspace: string): string => `/workspaces/${encodeURIComponent(workspace)}`;
export async function listWorkspaces(): Promise<Workspace[]> {
  return (await request<Page<Workspace>>('/workspaces')).items;
}
export const createWorkspace = (name: string, title: string): Promise<Workspace> =>
  request('/workspaces', { method: 'POST', body: { name, title } });
export const renameWorkspace = (workspace: string, title: string): Promise<Workspace> =>
  request(workspacePath(workspace), { method: 'PATCH', body: { title } });
export const closeWorkspace = (workspace: string): Promise<null> =>
  request(workspacePath(workspace), { method: 'DELETE' });
export const copyFromRegistry = (id: string, name: string, version: string): Promise<Agent> =>
  request(`/code-agents/registry/${encodeURIComponent(id)}/copy`, { method: 'POST', body: { name, version } });

export async function listVersions(agent: string): Promise<VersionSummary[]> {
  return (await request<Page<VersionSummary>>(`${agentPath(agent)}/versions`)).items;
}
export const getVersion = (agent: string, version: string): Promise<Version> => request(versionPath(agent, version));

export interface Deprecation {
  deprecated: boolean;
  reason?: string;
  successor?: string;
}
export const deprecate = (agent: string, version: string, body: Deprecation): Promise<Version> =>
  request(versionPath(agent, version), { method: 'PATCH', body });
export async function listPins(agent: string): Promise<Pin[]> {
  return (await request<Page<Pin>>(`${agentPath(agent)}/pins`)).items;
}

export type PublishAs = { version: string } | { bump: 'auto' | 'major' | 'minor' | 'patch' };
interface PublishMore {
  changelog: string;
  /** The reason why the version number is lower than recommended. The server stores it with the version. */
  comment: string;
  /** Whether to publish a major version although checks fail. `comment` contains the reason. */
  acceptRegressions?: boolean;
  /** The number of recorded inputs that must give the same output; 0 skips this check. */
  replay: number;
}
export function publish(
  agent: string,
  as: PublishAs,
  { changelog, comment, replay, acceptRegressions = false }: PublishMore,
  revision: number | undefined,
): Promise<VersionSummary | AwaitedPublication> {
  const force = comment === '' ? {} : acceptRegressions ? { acceptRegressions, comment } : { force: true, comment };
  return request(`${agentPath(agent)}/versions`, {
    method: 'POST',
    body: { ...as, changelog, replay, ...force, ...seen(revision) },
  });
}

/** Sends the revision of the draft that the user sees. The server rejects the request if another revision was saved. */
const seen = (revision: number | undefined): { revision?: number } => (revision === undefined ? {} : { revision });

export interface ApprovalPage {
  items: Approval[];
  nextCursor: string;
  pending: number;
}
export const listApprovals = (status: 'pending' | undefined): Promise<ApprovalPage> =>
  request(`/approvals?limit=100${status === undefined ? '' : `&status=${status}`}`);
export async function listDeliveries(approval: string): Promise<Delivery[]> {
  const query = new URLSearchParams({ approval, limit: '20' }).toString();
  return (await request<Page<Delivery>>(`/approval-deliveries?${query}`)).items;
}
export const getApproval = (id: string): Promise<ApprovalDetails> => request(`/approvals/${encodeURIComponent(id)}`);
export interface ApprovalDecision {
  decision: 'approve' | 'deny';
  scope?: 'once' | 'version' | 'caller';
  comment: string;
}
export const decideApproval = (id: string, body: ApprovalDecision): Promise<Approval> =>
  request(`/approvals/${encodeURIComponent(id)}`, { method: 'POST', body });
/** Returns the difference between the program of a request for approval and the previous version. */
export const diffApproval = (id: string): Promise<Diff> => request(`/approvals/${encodeURIComponent(id)}/diff`);
export const pageBlocked = (all: boolean, cursor: string, signal: AbortSignal): Promise<ListPage<BlockedRequest>> =>
  readPage('/blocked', { limit: '50', all: all ? 'true' : '', cursor }, signal);
export const decideBlocked = (id: string, action: 'resubmit' | 'drop'): Promise<BlockedRequest> =>
  request(`/blocked/${encodeURIComponent(id)}`, { method: 'POST', body: { action } });
/** Returns the verdict that the policy gate would give about the draft now. */
export const getVerdict = (agent: string): Promise<Verdict> => request(`${agentPath(agent)}/verdict`);

export function diff(agent: string, from: string, to: string, revision?: number): Promise<Diff> {
  const query = new URLSearchParams({ from, to, ...(revision !== undefined && { revision: String(revision) }) });
  return request(`${agentPath(agent)}/diff?${query.toString()}`);
}

/** Runs tests of a version or of the draft. Without names it runs all tests. */
export const runTests = (
  agent: string,
  version: string | undefined,
  names: string[],
  revision?: number,
): Promise<TestsReport> =>
  request(`${agentPath(agent)}/tests/run`, {
    method: 'POST',
    body: { ...(version !== undefined && { version }), names, ...seen(revision) },
  });

/** Generates tests from the input schema of the draft and runs them. The server does not store them. */
export const generateTests = (agent: string, revision?: number): Promise<GeneratedTests> =>
  request(`${agentPath(agent)}/tests/generate`, { method: 'POST', body: { ...seen(revision) } });

/** Runs the draft with the newest recorded inputs of the latest version. */
export const replay = (agent: string, runs: number, revision?: number): Promise<ReplayReport> =>
  request(`${agentPath(agent)}/replay`, { method: 'POST', body: { runs, ...seen(revision) } });

/** Returns the URL from which the browser downloads an archive of the named agents, or of the whole workspace. */
export function archiveUrl(...agents: string[]): string {
  const query = new URLSearchParams(agents.map((agent) => ['agent', agent])).toString();
  return inWorkspace(`${apiBase}/archive${query === '' ? '' : `?${query}`}`);
}

export interface ExportRequest {
  format: string;
  version?: string;
  publish?: boolean;
  revision?: number;
}
export interface Exported {
  manifest: JsonObject;
  /** Notes for the user. They say why a schema is not strict, and which parts the format cannot express. */
  notes: string[];
}
export async function exportTool(agent: string, body: ExportRequest): Promise<Exported> {
  const path = `${agentPath(agent)}/export-tool`;
  const answer = await requestWithHeaders(path, { method: 'POST', body });
  return { manifest: isObject(answer.body) ? answer.body : {}, notes: notesIn(answer.headers) };
}

/**
 * Each header contains a JSON text. Browsers join headers with the same name by commas, so the result is the content of
 * a JSON list.
 */
function notesIn(headers: Headers): string[] {
  const list = parseJson(`[${headers.get('Atelier-Warning') ?? ''}]`);
  return Array.isArray(list) ? list.filter((note) => typeof note === 'string') : [];
}

export function execute(agent: string, version: string, input: Json, revision?: number): Promise<{ runId: string }> {
  return request(`${agentPath(agent)}/execute`, {
    method: 'POST',
    headers: { Prefer: 'respond-async' },
    body: { version, input, ...seen(revision) },
  });
}
/** Calls a version and waits for the answer, like any other client. */
export const call = (agent: string, version: string, input: Json): Promise<RunAnswer> =>
  request(`${agentPath(agent)}/execute`, { method: 'POST', body: { version, input } });
export const cancelRun = (runId: string): Promise<null> => request(`/runs/${runId}/cancel`, { method: 'POST' });
export const getRun = (runId: string): Promise<Run> => request(`/runs/${runId}`);
/** Lists the runs that a run has started by calling agents, oldest first. */
export async function listChildren(runId: string): Promise<RunSummary[]> {
  const query = new URLSearchParams({ parentRunId: runId, limit: '200' });
  return (await request<Page<RunSummary>>(`/runs?${query.toString()}`)).items.reverse();
}
export async function listRuns(agent: string): Promise<RunSummary[]> {
  const query = new URLSearchParams({ agent, limit: '50' });
  return (await request<Page<RunSummary>>(`/runs?${query.toString()}`)).items;
}

/** Filters for the run list. An empty filter selects all runs. */
export interface RunFilter {
  status: string;
  agent: string;
  since: string;
}
export const pageRuns = (filter: RunFilter, cursor: string, signal: AbortSignal): Promise<ListPage<RunSummary>> =>
  readPage('/runs', { limit: '50', ...filter, cursor }, signal);

export const listRuntimes = (): Promise<RuntimeList> => request('/runtimes');

export interface ValidateRequest {
  language: Language;
  runtime?: string;
  files: Files;
  entrypoint: string;
  rules?: Rules;
  inputSchema?: JsonSchema;
  outputSchema?: JsonSchema;
}
/** Formats a Bash script. */
export function format(code: string, indent: number): Promise<Formatted> {
  return request('/format', { method: 'POST', body: { language: 'bash', code, indent } });
}

type InferRequest = Pick<Draft, 'language' | 'files' | 'entrypoint' | 'environment' | 'packages' | 'runtime'> & {
  rules?: Rules;
};

/** Infers the schemas of a program from its types. */
export function inferSchemas(body: InferRequest, signal?: AbortSignal): Promise<Inferred> {
  return request('/infer', { method: 'POST', body, ...(signal && { signal }) });
}

/** Infers schemas from the last recorded runs of an agent, so that these runs fit the schemas. */
export function schemasFromRuns(name: string): Promise<Inferred> {
  return request(`${agentPath(name)}/schemas-from-runs`);
}

/** Returns the exact packages of a draft. If requested, the server also installs them. */
export function resolvePackages(
  name: string,
  revision: number | undefined,
  how: { renew?: boolean; install?: boolean },
): Promise<ResolvedPackages> {
  const query = revision === undefined ? '' : `?revision=${String(revision)}`;
  return request(`${agentPath(name)}/packages/resolve${query}`, { method: 'POST', body: how });
}

export async function searchPackages(language: Language, text: string): Promise<FoundPackage[]> {
  const query = new URLSearchParams({ language, q: text });
  return (await request<Page<FoundPackage>>(`/packages/search?${query.toString()}`)).items;
}

/** Lists the versions of a package, newest first. */
export async function listPackageVersions(language: Language, name: string): Promise<string[]> {
  const query = new URLSearchParams({ language, name });
  return (await request<Page<string>>(`/packages/versions?${query.toString()}`)).items;
}

/** Lists the other packages on which a package depends. */
export async function listPackageDependencies(
  language: Language,
  name: string,
  version: string,
): Promise<PackageDependency[]> {
  const query = new URLSearchParams({ language, name, version });
  return (await request<Page<PackageDependency>>(`/packages/dependencies?${query.toString()}`)).items;
}

export const listInstalledPackages = (): Promise<InstalledPackages> => request('/packages/installed');

/** Removes packages that were not used for some hours. With dryRun the server only lists them. */
export const collectPackages = (unusedHours: number, dryRun: boolean): Promise<CollectedPackages> =>
  request('/packages/gc', { method: 'POST', body: { unusedHours, dryRun } });

/** Returns the files that contain the types of the installed packages, for the editor. */
export function getPackageTypes(agent: string, version: string): Promise<PackageTypes> {
  const query = new URLSearchParams({ version });
  return request(`${agentPath(agent)}/packages/types?${query.toString()}`);
}

export function validate(body: ValidateRequest, signal: AbortSignal): Promise<Validation> {
  return request('/validate', { method: 'POST', body, signal });
}
/** Returns warnings about a description that is missing or not useful for models. */
export function checkDescription(
  body: { name: string; title: string; description: string },
  signal: AbortSignal,
): Promise<Validation> {
  return request('/validate', { method: 'POST', body, signal });
}
