// What the Studio asks of the server, one function for each verb.
import { request, requestWithHeaders } from './http';
import { isObject, parseJson, type Json, type JsonObject } from './json';
import type {
  About,
  Agent,
  AgentBody,
  AgentSummary,
  Capabilities,
  Diff,
  Draft,
  Files,
  JsonSchema,
  Language,
  ReplayReport,
  Run,
  RunSummary,
  Sample,
  Session,
  Validation,
  Version,
  VersionSummary,
} from './types';

interface Page<T> {
  items: T[];
  nextCursor?: string;
}

const agentPath = (agent: string): string => `/code-agents/${encodeURIComponent(agent)}`;
const versionPath = (agent: string, version: string): string =>
  `${agentPath(agent)}/versions/${encodeURIComponent(version)}`;

export const getSession = (signal?: AbortSignal): Promise<Session> => request('/session', signal ? { signal } : {});
export const signIn = (token: string): Promise<null> => request('/session', { method: 'POST', body: { token } });
export const signOut = (): Promise<null> => request('/session', { method: 'DELETE' });
export const getCapabilities = (): Promise<Capabilities> => request('/capabilities');

export async function listSamples(): Promise<Sample[]> {
  return (await request<Page<Sample>>('/samples')).items;
}

export async function listAgents(): Promise<AgentSummary[]> {
  const all: AgentSummary[] = [];
  let cursor = '';
  do {
    const query = new URLSearchParams({ limit: '200', ...(cursor === '' ? {} : { cursor }) });
    const page = await request<Page<AgentSummary>>(`/code-agents?${query.toString()}`);
    all.push(...page.items);
    cursor = page.nextCursor ?? '';
  } while (cursor !== '' && all.length < 5000);
  return all;
}

export const getAgent = (agent: string): Promise<Agent> => request(agentPath(agent));
export const createAgent = (body: AgentBody): Promise<Agent> => request('/code-agents', { method: 'POST', body });
export const deleteAgent = (agent: string): Promise<null> => request(agentPath(agent), { method: 'DELETE' });

export function saveAgent(id: string, about: About, draft: Draft, signal?: AbortSignal): Promise<Agent> {
  const { revision, ...fields } = draft;
  const { title, description, tags, metadata, name } = about;
  return request(agentPath(id), {
    method: 'PUT',
    headers: { 'If-Match': `"${revision}"` },
    body: { name, title, description, tags, metadata, ...fields },
    ...(signal ? { signal } : {}),
  });
}

/** A page of the public registry; every word of the search must occur. */
export async function browseRegistry(search: string, cursor: string): Promise<RegistryPage> {
  const query = new URLSearchParams({
    limit: '50',
    ...(search.trim() === '' ? {} : { q: search.trim() }),
    ...(cursor === '' ? {} : { cursor }),
  });
  const page = await request<Page<AgentSummary>>(`/code-agents/registry?${query.toString()}`);
  return { items: page.items, nextCursor: page.nextCursor ?? '' };
}
export interface RegistryPage {
  items: AgentSummary[];
  nextCursor: string;
}
export const listInRegistry = (agent: string, listed: boolean): Promise<Agent> =>
  request(`${agentPath(agent)}/publish`, { method: 'POST', body: { public: listed } });
export const copyFromRegistry = (id: string, name: string): Promise<Agent> =>
  request(`/code-agents/registry/${encodeURIComponent(id)}/copy`, { method: 'POST', body: { name } });

export async function listVersions(agent: string): Promise<VersionSummary[]> {
  return (await request<Page<VersionSummary>>(`${agentPath(agent)}/versions`)).items;
}
export const getVersion = (agent: string, version: string): Promise<Version> => request(versionPath(agent, version));

export type PublishAs = { version: string } | { bump: 'auto' | 'major' | 'minor' | 'patch' };
/** With a comment the number may be smaller than the changes ask for; the version keeps it. */
export function publish(agent: string, as: PublishAs, changelog: string, comment: string): Promise<VersionSummary> {
  const force = comment === '' ? {} : { force: true, comment };
  return request(`${agentPath(agent)}/versions`, { method: 'POST', body: { ...as, changelog, ...force } });
}

export function diff(agent: string, from: string, to: string): Promise<Diff> {
  return request(`${agentPath(agent)}/diff?${new URLSearchParams({ from, to }).toString()}`);
}

/** Runs the newest recorded inputs of the latest version against the draft. */
export const replay = (agent: string): Promise<ReplayReport> =>
  request(`${agentPath(agent)}/replay`, { method: 'POST', body: {} });

export interface ExportRequest {
  format: string;
  version?: string;
  publish?: boolean;
}
export interface Exported {
  manifest: JsonObject;
  /** What a person should know of it: why it is not strict, what the form cannot say. */
  notes: string[];
}
export async function exportTool(agent: string, body: ExportRequest): Promise<Exported> {
  const path = `${agentPath(agent)}/export-tool`;
  const answer = await requestWithHeaders(path, { method: 'POST', body });
  return { manifest: isObject(answer.body) ? answer.body : {}, notes: notesIn(answer.headers) };
}

/** Each header is a JSON text, and a browser joins headers of one name with commas: together they are a list. */
function notesIn(headers: Headers): string[] {
  const list = parseJson(`[${headers.get('Atelier-Warning') ?? ''}]`);
  return Array.isArray(list) ? list.filter((note) => typeof note === 'string') : [];
}

export function execute(agent: string, version: string, input: Json): Promise<{ runId: string }> {
  return request(`${agentPath(agent)}/execute`, {
    method: 'POST',
    headers: { Prefer: 'respond-async' },
    body: { version, input },
  });
}
export const cancelRun = (runId: string): Promise<null> => request(`/runs/${runId}/cancel`, { method: 'POST' });
export const getRun = (runId: string): Promise<Run> => request(`/runs/${runId}`);
export async function listRuns(agent: string): Promise<RunSummary[]> {
  const query = new URLSearchParams({ agent, limit: '50' });
  return (await request<Page<RunSummary>>(`/runs?${query.toString()}`)).items;
}

export interface ValidateRequest {
  language: Language;
  files: Files;
  entrypoint: string;
  inputSchema?: JsonSchema;
  outputSchema?: JsonSchema;
}
export function validate(body: ValidateRequest, signal: AbortSignal): Promise<Validation> {
  return request('/validate', { method: 'POST', body, signal });
}
