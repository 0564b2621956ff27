// Contains the data of the open agent: an editable draft or a read-only version.
import { createContext, use } from 'react';
import type {
  About,
  Agent,
  Draft,
  FieldProblem,
  Files,
  JsonSchema,
  RuntimeChoice,
  SchemaSource,
  Version,
} from '../api/types';
import type { DraftSession, SaveState, SessionView } from '../draft/session';

export type Fields = Omit<Draft, 'revision'>;
/** All fields of a draft or version except the files. The texts of the files change with each key. */
export type Settings = Omit<Fields, 'files'>;

export interface SchemaText {
  text: string;
  fault: string | undefined;
}

export interface OpenAgent {
  id: string;
  name: string;
  about: About;
  fields: Settings;
  /** The paths of the agent's files. */
  paths: readonly string[];
  latestVersion: string;
  /** The number of the version; undefined for the draft. */
  version: string | undefined;
  /** The reason of the deprecation and the successor. */
  deprecated: { reason: string; successor: string } | undefined;
  /** For a version: why "auto" selected its runtime. */
  choice: RuntimeChoice | undefined;
  save: SaveState;
  session: DraftSession | undefined;
  schemas: { input: SchemaText; output: SchemaText };
  /** Changes the text of a schema. Without `source` the schema counts as written by a person. */
  editSchema: (which: 'input' | 'output', text: string, source?: SchemaSource) => void;
}

export const OpenAgentContext = createContext<OpenAgent | undefined>(undefined);
export const OpenFilesContext = createContext<Files | undefined>(undefined);

/**
 * Returns the open agent without the contents of its files. The value does not change while the user types in a file.
 */
export const useOpenAgent = (): OpenAgent => opened(use(OpenAgentContext));

/** Returns the files of the open agent. Components that call it render again with every key. */
export const useOpenFiles = (): Files => opened(use(OpenFilesContext));

function opened<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('There is no open agent here.');
  return value;
}

export type Opened = Omit<OpenAgent, 'schemas' | 'editSchema' | 'fields' | 'paths'> & { fields: Fields };

export function openDraft(session: DraftSession, view: SessionView): Opened {
  const { id, about, draft, latestVersion, save } = view;
  return {
    id,
    name: about.name,
    about,
    fields: draft,
    latestVersion,
    version: undefined,
    deprecated: undefined,
    choice: undefined,
    save,
    session,
  };
}

/** Opens an agent for pages without an editor. */
export function openFacts(agent: Agent): Opened {
  const { id, name, latestVersion, draft } = agent;
  return {
    id,
    name,
    about: agent,
    fields: draft,
    latestVersion,
    version: undefined,
    deprecated: undefined,
    choice: undefined,
    save: { kind: 'saved' },
    session: undefined,
  };
}

export function openVersion(agent: Pick<Agent, 'id' | 'latestVersion'> & About, version: Version): Opened {
  const { id, name, latestVersion } = agent;
  const fields = version;
  return {
    id,
    name,
    about: agent,
    fields,
    latestVersion,
    version: version.version,
    deprecated: version.deprecated ? { reason: version.reason ?? '', successor: version.successor ?? '' } : undefined,
    choice: version.runtimeChoice,
    save: { kind: 'saved' },
    session: undefined,
  };
}

/**
 * Returns the server's error about a field of the draft. The error's pointer is that of the field or of a part of it.
 */
export function problemAt(save: SaveState, pointer: string): string | undefined {
  if (save.kind !== 'refused') return undefined;
  const hit = save.fields.find((f: FieldProblem) => f.pointer === pointer || f.pointer.startsWith(`${pointer}/`));
  if (!hit) return undefined;
  const below = hit.pointer.slice(pointer.length);
  return below === '' ? hit.message : `${below}: ${hit.message}`;
}

export const schemaOf = (fields: Settings, which: 'input' | 'output'): JsonSchema =>
  which === 'input' ? fields.inputSchema : fields.outputSchema;
