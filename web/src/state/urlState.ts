// Reads and writes the state of the screen in the URL, so that a link restores it: open tabs, line, panel and run.
export type Tab = { kind: 'file'; path: string } | { kind: 'schema'; which: 'input' | 'output' };
export type Panel = 'input' | 'console' | 'result' | 'history' | 'tests';

export interface UrlState {
  tab?: Tab;
  /** The tab of the second editor. */
  beside?: Tab;
  line?: number;
  panel?: Panel;
  run?: string;
}

const panels: readonly string[] = ['input', 'console', 'result', 'history', 'tests'];

export function readUrl(search: string): UrlState {
  const query = new URLSearchParams(search);
  const state: UrlState = {};
  const tab = readTab(query, 'file', 'schema');
  if (tab) state.tab = tab;
  const beside = readTab(query, 'beside', 'besideSchema');
  if (beside) state.beside = beside;
  const line = Number(query.get('line'));
  if (Number.isInteger(line) && line > 0) state.line = line;
  const panel = query.get('panel');
  if (panel !== null && panels.includes(panel)) state.panel = panel as Panel;
  const run = query.get('run');
  if (run !== null && run !== '') state.run = run;
  return state;
}

function readTab(query: URLSearchParams, fileKey: string, schemaKey: string): Tab | undefined {
  const path = query.get(fileKey);
  if (path !== null && path !== '') return { kind: 'file', path };
  const schema = query.get(schemaKey);
  return schema === 'input' || schema === 'output' ? { kind: 'schema', which: schema } : undefined;
}

export function writeUrl({ tab, beside, line, panel, run }: UrlState): string {
  const query = new URLSearchParams();
  if (tab?.kind === 'file') query.set('file', tab.path);
  if (tab?.kind === 'schema') query.set('schema', tab.which);
  if (beside?.kind === 'file') query.set('beside', beside.path);
  if (beside?.kind === 'schema') query.set('besideSchema', beside.which);
  if (line !== undefined) query.set('line', String(line));
  if (panel !== undefined) query.set('panel', panel);
  if (run !== undefined) query.set('run', run);
  const text = query.toString().replace(/%2F/g, '/');
  return text === '' ? '' : `?${text}`;
}

export interface AgentRef {
  name: string;
  /** Undefined for the draft. */
  version: string | undefined;
}

export function readRef(ref: string): AgentRef {
  const at = ref.indexOf('@');
  return at < 0 ? { name: ref, version: undefined } : { name: ref.slice(0, at), version: ref.slice(at + 1) };
}

/** Decodes a part of the path. In it, @ may be written as %40. An invalid % stays unchanged. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const agentUrl = (name: string, version?: string): string =>
  `/a/${name}${version === undefined ? '' : `@${version}`}`;
/** Returns the version of a run as a part of a URL. It is empty for a draft and for code without an agent. */
export const pinnedOf = (version: string | undefined): string | undefined =>
  version === '' || version === 'draft' ? undefined : version;

export const runUrl = (id: string): string => `/runs/${id}`;
export const versionsUrl = (name: string): string => `/a/${name}/versions`;

/**
 * The views of the agent list: the user's own agents, agents with unpublished changes, and agents whose last run
 * failed.
 */
export type AgentView = 'mine' | 'changed' | 'failing';
export const agentViews: readonly AgentView[] = ['mine', 'changed', 'failing'];

/** The filters of the agent list. A missing filter selects all agents. */
export interface ListState {
  search?: string;
  inCode?: boolean;
  state?: 'draft' | 'published' | 'deleted';
  tag?: string;
  view?: AgentView;
  /** Selects agents that have not run for this number of days. */
  unused?: number;
}

const states: readonly string[] = ['draft', 'published', 'deleted'];

export function readList(text: string): ListState {
  const query = new URLSearchParams(text);
  const list: ListState = {};
  const search = query.get('q') ?? '';
  if (search !== '') list.search = search;
  if (query.get('code') === 'true') list.inCode = true;
  const state = query.get('state');
  if (state !== null && states.includes(state)) list.state = state as NonNullable<ListState['state']>;
  const tag = query.get('tag') ?? '';
  if (tag !== '') list.tag = tag;
  const view = agentViews.find((known) => known === query.get('view'));
  if (view !== undefined) list.view = view;
  const unused = Number(query.get('unused'));
  if (Number.isInteger(unused) && unused > 0 && unused < 10_000) list.unused = unused;
  return list;
}

export function listUrl({ search = '', inCode = false, state, tag = '', view, unused }: ListState): string {
  const query = new URLSearchParams();
  if (search !== '') query.set('q', search);
  if (inCode) query.set('code', 'true');
  if (state !== undefined) query.set('state', state);
  if (tag !== '') query.set('tag', tag);
  if (view !== undefined) query.set('view', view);
  if (unused !== undefined) query.set('unused', String(unused));
  const text = query.toString();
  return text === '' ? '/' : `/?${text}`;
}
