// Reads and writes the state of the registry pages in their URLs.
import type { Language } from '../api/types';
import type { RegistryFilter } from '../api/verbs';

export const languages: readonly Language[] = ['typescript', 'javascript', 'python', 'bash', 'wasm'];

export function readRegistry(text: string): RegistryFilter {
  const query = new URLSearchParams(text);
  const state: RegistryFilter = {};
  const search = query.get('q') ?? '';
  if (search !== '') state.search = search;
  const language = languages.find((one) => one === query.get('lang'));
  if (language !== undefined) state.language = language;
  const tag = query.get('tag') ?? '';
  if (tag !== '') state.tag = tag;
  return state;
}

export const registryUrl = ({ search = '', language, tag = '' }: RegistryFilter): string =>
  withQuery('/registry', { q: search, lang: language ?? '', tag });

/** The part of an agent that the page shows. The defaults are the latest version and its entrypoint. */
export interface ListedState {
  version?: string;
  file?: string;
}

export function readListed(text: string): ListedState {
  const query = new URLSearchParams(text);
  const state: ListedState = {};
  const version = query.get('v') ?? '';
  if (version !== '') state.version = version;
  const file = query.get('file') ?? '';
  if (file !== '') state.file = file;
  return state;
}

export const listedUrl = (publisher: string, name: string, { version = '', file = '' }: ListedState = {}): string =>
  withQuery(`/registry/${publisher}/${name}`, { v: version, file });

function withQuery(path: string, values: Record<string, string>): string {
  const said = Object.entries(values).filter(([, value]) => value !== '');
  const query = new URLSearchParams(said).toString().replace(/%2F/g, '/');
  return query === '' ? path : `${path}?${query}`;
}
