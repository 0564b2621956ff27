// What of the screen is in the address, so that a link shows the same: the open tab, the line, the panel and the run.
export type Tab = { kind: 'file'; path: string } | { kind: 'schema'; which: 'input' | 'output' };
export type Panel = 'input' | 'console' | 'result' | 'history';

export interface UrlState {
  tab?: Tab;
  line?: number;
  panel?: Panel;
  run?: string;
}

const panels: readonly string[] = ['input', 'console', 'result', 'history'];

export function readUrl(search: string): UrlState {
  const query = new URLSearchParams(search);
  const state: UrlState = {};
  const tab = readTab(query);
  if (tab) state.tab = tab;
  const line = Number(query.get('line'));
  if (Number.isInteger(line) && line > 0) state.line = line;
  const panel = query.get('panel');
  if (panel !== null && panels.includes(panel)) state.panel = panel as Panel;
  const run = query.get('run');
  if (run !== null && run !== '') state.run = run;
  return state;
}

function readTab(query: URLSearchParams): Tab | undefined {
  const path = query.get('file');
  if (path !== null && path !== '') return { kind: 'file', path };
  const schema = query.get('schema');
  return schema === 'input' || schema === 'output' ? { kind: 'schema', which: schema } : undefined;
}

export function writeUrl({ tab, line, panel, run }: UrlState): string {
  const query = new URLSearchParams();
  if (tab?.kind === 'file') query.set('file', tab.path);
  if (tab?.kind === 'schema') query.set('schema', tab.which);
  if (line !== undefined) query.set('line', String(line));
  if (panel !== undefined) query.set('panel', panel);
  if (run !== undefined) query.set('run', run);
  const text = query.toString().replace(/%2F/g, '/');
  return text === '' ? '' : `?${text}`;
}

export interface AgentRef {
  name: string;
  /** Undefined is the draft. */
  version: string | undefined;
}

export function readRef(ref: string): AgentRef {
  const at = ref.indexOf('@');
  return at < 0 ? { name: ref, version: undefined } : { name: ref.slice(0, at), version: ref.slice(at + 1) };
}

export const agentUrl = (name: string, version?: string): string =>
  `/a/${name}${version === undefined ? '' : `@${version}`}`;
