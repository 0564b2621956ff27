import type { ReactNode } from 'react';
import { ago, plural } from './format';
import { rich } from './rich';

export const agentHeader = {
  draft: 'Draft',
  unpublishedChanges: 'Unpublished changes',
  changed: 'Edited',
  sameAs: (version: string) => `The draft is the same as ${version}.`,
  readOnly: ', read only',
  published: (when: string) => `Published ${when}`,
  deprecated: 'deprecated',
  exportAsTool: 'Export as tool',
  connect: 'Connect a client',
  publish: 'Publish…',
  openTheDraft: 'Open the draft',
  toggleConfiguration: 'Toggle configuration',
  newDraftFromThisVersion: 'New draft from this version',
  versions: 'Versions',
  history: 'History of the draft',
  compareWith: (latestVersion: string) => `Compare with ${latestVersion}`,
  discardTheDraft: 'Discard the draft',
  moreAbout: (name: string) => `More about ${name}`,
  stop: 'Stop',
  run: 'Run',
  saved: 'Saved',
  savedButNot: (side: 'input' | 'output') =>
    ({
      input: 'Saved, but not the input schema: it is not valid JSON',
      output: 'Saved, but not the output schema: it is not valid JSON',
    })[side],
  saving: 'Saving',
  offlineChangesKeptHere: 'Offline, changes stored in this browser',
  conflict: 'Conflict',
  notSaved: (reason: string) => `Not saved: ${reason}`,
};

export const agentList = {
  agents: 'Agents',
  import: 'Import…',
  exportAll: 'Export all',
  newAgent: 'New agent…',
  findAgents: 'Find agents',
  findInAll: 'Name, title, description, tag or code',
  findInWords: 'Name, title, description or tag',
  alsoInCode: 'Also in code',
  which: 'State',
  all: 'Any state',
  neverPublished: 'Never published',
  published: 'Published',
  deleted: 'Deleted',
  use: 'Use',
  usedOrNot: 'Run at any time',
  notRunForDays: (days: number) => `Not run for ${days} days`,
  anyTagNotOnly: (tag: string) => `Any tag, not only ${tag}`,
  theAgents: 'the agents',
  deletedAgents: 'Deleted agents',
  agentsFound: 'Agents found',
  noAgentIsDeleted: 'No agent is deleted.',
  noneUnused: 'Every agent has been run since then, or is newer.',
  none: 'No agents here.',
  nothingMatches: (search: string) => `Nothing matches “${search}”.`,
  lookInCode: (search: string) => `Nothing matches “${search}”; tick “Also in code” to search the programs too.`,
  only: (tag: string) => `Only ${tag}`,
  draft: 'Draft',
  preRelease: 'Pre-release',
  notRunYet: 'Not run yet',
  calls: (usageCount: number) => plural(usageCount, { one: 'call', other: 'calls' }),
  changed: (when: string) => `Changed ${when}`,
  by: (name: string) => `by ${name}`,
  noDescription: 'No description yet. Models read it to decide when to call the agent.',
  unpublishedChanges: 'Unpublished changes',
  favourite: (name: string) => `Favourite ${name}`,
  views: 'Views of the agents',
  allAgents: 'All',
  viewNames: { mine: 'Mine', changed: 'Unpublished changes', failing: 'Failing' },
  noneOf: {
    mine: 'You have not created an agent here yet.',
    changed: 'Every draft is as published.',
    failing: 'The last run of every agent succeeded.',
  },
  builtIn: 'Built in',
  builtInLead: 'Agents that come with Atelier. Open one to read it, or copy it to change it.',
  moreActions: 'More actions',
  deletedOnly: 'Deleted agents',
  deletedWhen: (when: string, by: string, why: string) =>
    `Deleted ${when}${by === '' ? '' : ` by ${by}`}${why === '' ? '' : `: ${why}`}`,
  restore: (name: string) => `Restore ${name}`,
  restoreButton: 'Restore',
};

export const agentPage = {
  pageTitle: (agentRef: string) => `${agentRef} · Atelier`,
  isNow: (before: string, name: string) => `${before} is now ${name}`,
};

export const agentStatus = {
  off: 'off',
  starting: 'starting…',
  ready: 'ready',
  coloursOnly: 'colours only',
  pythonIs: 'Python: ',
  pythonService: 'Python’s language service',
  startPythonAgain: 'Retry starting Python’s language service',
  plainText: 'Plain text',
  problems: (errors: number, warnings: number) =>
    `Problems: ${plural(errors, { one: 'error', other: 'errors' })}, ${plural(warnings, { one: 'warning', other: 'warnings' })}`,
  errors: (errors: number) => plural(errors, { one: 'error', other: 'errors' }),
  warnings: (warnings: number) => plural(warnings, { one: 'warning', other: 'warnings' }),
  lnCol: (line: number, column: number) => `Ln ${line}, Col ${column}`,
  editorSettings: 'Editor settings',
};

export const agentsPanel = {
  theAgents: 'the agents',
  preRelease: 'pre-release',
  agents: 'Agents',
  newAgent: 'New agent',
  tag: 'Tag',
  allTags: 'All tags',
  tagWithCount: (tag: string, n: number) => `${tag} (${n})`,
  searchAgents: 'Search agents',
  placeholder: 'Search',
  notLoaded: (reason: string) => `The agents could not be loaded. ${reason}`,
  noAgentsYet: 'No agents yet.',
  nothingMatches: (search: string) => `Nothing matches “${search}”.`,
  lookInCodeToo: 'Search code too',
  open: 'Open',
  favourites: 'Favourites',
  addFavourite: 'Add to favourites',
  removeFavourite: 'Remove from favourites',
  unpublishedChanges: 'unpublished changes',
  lastRunFailed: 'last run failed',
  drafts: 'Drafts',
  published: 'Published',
  actionsFor: (name: string) => `Actions for ${name}`,
  versions: 'Versions',
};

/** Reasons why the server is not available. */
export const unreachable = {
  noNetwork: 'No network. This works again when the network is back.',
  notReached: 'The server cannot be reached. This works again when the draft is saved.',
};

export const conflictBar = {
  theirs: 'Theirs',
  mine: 'Mine',
  thisDraftWasChangedElsewhere: 'This draft was changed elsewhere',
  takeTheirs: 'Take theirs',
  keepMine: 'Keep mine',
  about: (name: string | undefined, when: string) =>
    `${name ?? 'Another person'} saved it ${when}, while you were looking at an earlier state. Nothing is lost: what you do not take stays in the history of the draft, or can be brought back here.`,
  keepWhich: (what: string) => `Which ${what} to keep`,
  merged: 'Merged',
  bothMarked: 'Both, marked',
  useMerge: 'Use the merge',
  needsYou: (n: number) => plural(n, { one: 'difference needs a decision', other: 'differences need a decision' }),
  taken: 'Your edits were replaced.',
  undo: 'Undo',
  differences: 'Differences',
  settings: 'Settings',
};

export const deleteAgentDialog = {
  deleted: (name: string) => `Deleted ${name}`,
  undo: 'Undo',
  delete: (name: string) => `Delete ${name}?`,
  deleteAbout:
    'This deletes the draft and its versions, and references to them stop working. The name stays reserved, and the agent can be restored.',
  deleteAllTheSame: 'Delete anyway',
  verb: 'Delete',
  references: 'its references',
  nobodyIsRegisteredAsUsing: 'No program references it.',
  notRead: (reason: string) => `Its references could not be loaded. ${reason}`,
  others: 'Other programs reference it and would fail. Update them first, or give a reason for the deletion.',
  whyItIsDeleted: 'Reason for the deletion',
  whyItIsDeletedHint: 'Shown to anyone who opens the deleted agent.',
  restored: (name: string) => `Restored ${name}`,
  notRestored: (reason: string) => `It could not be restored. ${reason}`,
};

export const duplicateDialog = {
  copy: (name: string) => `Copy ${name}`,
  copyAbout: 'Creates a new agent with this draft, its description and its tags. It starts without versions.',
  nameOfTheCopy: 'Name of the copy',
  verb: 'Copy',
};

export const newAgentDialog = {
  notAvailableOnThisServer: 'Not available on this server.',
  newAgent: 'New agent',
  newAgentAbout: 'Creates a draft with a small starter program.',
  name: 'Name',
  nameHint: 'Lower-case letters, digits, - and _. Part of every reference, such as weather@1.0.0.',
  language: 'Language',
  chooseAModule: 'Choose a module',
  aWasiCommandOfUp: 'A WASI command of up to 32 MiB, built elsewhere.',
  create: 'Create',
  orStartFrom: 'Or start from',
  sample: 'A sample',
  sampleHint: 'A program that runs and that you can change.',
  describe: 'A description',
  describeHint: 'The language model writes the first draft.',
  tool: 'A tool definition',
  toolHint: 'A draft with the schemas of the tool, and a stub as its program.',
  archive: 'An archive',
  archiveHint: 'Agents with their versions, exported from a server.',
  registry: 'The public registry',
  registryHint: 'An agent that another workspace lists.',
  noModuleWasChosen: 'Choose a module.',
};

export const importToolDialog = {
  title: 'Import a tool',
  about: 'Creates a draft with the name, the description and the schemas of a tool, and with a stub as its program.',
  definition: 'Definition of the tool',
  definitionHint: 'JSON of a function of OpenAI, or of a tool of LangChain, MCP or Anthropic.',
  language: 'Language of the stub',
  verb: 'Import',
  noJson: 'This is not JSON.',
};

/** Reasons why the name of an agent is invalid. */
export const nameFaults = {
  needed: 'Enter a name.',
  firstLetter: 'A name starts with a lower-case letter.',
  signs: 'Use only lower-case letters, digits, - and _.',
  tooLong: 'Use at most 63 characters.',
  taken: 'The Studio itself uses this name.',
};

export const notOpened = {
  notFound: 'Not found',
  agentNotFound: 'Agent not found',
  versionNotFound: 'Version not found',
  couldNotOpen: 'Not opened',
  similar: 'Did you mean',
  deletedAgent: 'Deleted agent',
  allAgents: 'All agents',
  openTheDraft: 'Open the draft',
  thereIsNoVersion: (agentRef: ReactNode) => rich`There is no version ${agentRef}.`,
  notOpened: (agentRef: string, reason: string) => `${agentRef} could not be opened. ${reason}`,
  wasDeleted: (name: ReactNode, when: string, by: string, why: string) =>
    rich`${name} was deleted ${when}${by === '' ? '' : ` by ${by}`}${why === '' ? '.' : `: ${why}`}`,
  restoreIt: 'Restore it',
  thereIsNoAgent: (name: ReactNode) =>
    rich`There is no agent named “${name}” in this workspace. Create it, or check the link.`,
  createIt: 'Create it…',
};

export const renameDialog = {
  isNowAndWas: (before: string, name: string) => `${before} is now ${name}; calls to ${before} keep working`,
  isNow: (before: string, name: string) => `${before} is now ${name}`,
  rename: (name: string) => `Rename ${name}`,
  renameAbout: (name: string) =>
    `References to ${name} keep working: they lead to the agent under its new name. Nobody else can take the old one.`,
  unpublishedAbout: 'It has no version yet, so nothing references it. The old name becomes free.',
  newName: 'New name',
  verb: 'Rename',
};

export const agentMenu = {
  copyName: 'Copy name',
  exportAsArchive: 'Export as archive',
  takeOutOfTheRegistry: 'Remove from the registry',
  listInTheRegistry: 'List in the registry',
  rename: 'Rename…',
  copy: 'Copy…',
  delete: 'Delete…',
  copied: (name: string) => `Copied ${name}`,
};

export const settle = {
  theDraftIsNotSaved: 'The draft is not saved yet. Fix the error in the header first.',
};

export const useAgentCommands = {
  copied: (reference: string) => `Copied ${reference}`,
};

export const useDraftSession = {
  changedBy: (name: string | undefined, savedAt: string | undefined, now: number) =>
    `Changed by ${name ?? 'another person'} ${savedAt === undefined ? 'just now' : ago(savedAt, now)}.`,
  editsThatHadNot: 'Unsaved edits were restored',
  discardThem: 'Discard them',
};

export const others = {
  here: (names: readonly string[]) =>
    names.length === 1 ? `${names[0] ?? ''} is here` : `${names.length} others are here`,
  title: (names: readonly string[]) => `Also open for ${names.join(', ')}`,
};

export const useSchemaTexts = {
  aSchemaIsAnObject: 'A schema must be an object, true or false.',
};
