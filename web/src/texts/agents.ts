import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const agentHeader = {
  draft: 'Draft',
  readOnly: ', read only',
  deprecated: 'deprecated',
  exportAsTool: 'Export as tool',
  publish: 'Publish…',
  openTheDraft: 'Open the draft',
  toggleConfiguration: 'Toggle configuration',
  newDraftFromThisVersion: 'New draft from this version…',
  versions: 'Versions',
  compareWith: (latestVersion: string) => `Compare with ${latestVersion}`,
  discardTheDraft: 'Discard the draft…',
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
  offlineChangesKeptHere: 'Offline, changes kept here',
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
  which: 'Which',
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
  noneUnused: 'Every agent was run since, or is newer.',
  none: 'There is none.',
  nothingMatches: (search: string) => `Nothing matches “${search}”.`,
  lookInCode: (search: string) => `Nothing matches “${search}”; tick “Also in code” to look into the programs.`,
  only: (tag: string) => `Only ${tag}`,
  draft: 'Draft',
  preRelease: 'Pre-release',
  neverRun: 'never run',
  runs: (usageCount: number) => plural(usageCount, { one: 'run', other: 'runs' }),
  changed: (when: string) => `changed ${when}`,
  last: (when: string) => `last ${when}`,
  deletedWhen: (when: string, by: string, why: string) =>
    `Deleted ${when}${by === '' ? '' : ` by ${by}`}${why === '' ? '' : `: ${why}`}`,
  bringBack: (name: string) => `Bring back ${name}`,
  bringBackButton: 'Bring back',
};

export const agentPage = {
  pageTitle: (agentRef: string) => `${agentRef} · Atelier Studio`,
  isNow: (before: string, name: string) => `${before} is ${name} now`,
};

export const agentStatus = {
  off: 'off',
  starting: 'starting…',
  ready: 'ready',
  coloursOnly: 'colours only',
  startPythonAgain: 'Try again to start Python’s language service',
  plainText: 'Plain text',
  problems: (errors: number, warnings: number) =>
    `Problems: ${plural(errors, { one: 'error', other: 'errors' })}, ${plural(warnings, { one: 'warning', other: 'warnings' })}`,
  errors: (errors: number) => plural(errors, { one: 'error', other: 'errors' }),
  warnings: (warnings: number) => plural(warnings, { one: 'warning', other: 'warnings' }),
  lnCol: (line: number, column: number) => `Ln ${line}, Col ${column}`,
  editorSettings: 'Editor settings',
};

export const agentsPanel = {
  preRelease: 'pre-release',
  agents: 'Agents',
  newAgent: 'New agent',
  searchAgents: 'Search agents',
  placeholder: 'Search',
  notLoaded: (reason: string) => `The agents could not be loaded. ${reason}`,
  noAgentsYet: 'No agents yet.',
  nothingMatches: (search: string) => `Nothing matches “${search}”.`,
  lookInCodeToo: 'Look in code too',
  drafts: 'Drafts',
  published: 'Published',
  showMore: 'Show more',
  actionsFor: (name: string) => `Actions for ${name}`,
  versions: 'Versions',
};

export const conflictBar = {
  theirs: 'Theirs',
  mine: 'Mine',
  thisDraftWasChangedElsewhere: 'This draft was changed elsewhere',
  takeTheirs: 'Take theirs',
  keepMine: 'Keep mine',
  about: (minutes: number) =>
    `It was saved ${minutes > 0 ? `${minutes} min` : 'moments'} ago in another tab or by someone else. Choose which one to keep.`,
  whatDiffers: 'What differs',
  settings: 'Settings',
};

export const deleteAgentDialog = {
  deleted: (name: string) => `Deleted ${name}`,
  undo: 'Undo',
  delete: (name: string) => `Delete ${name}?`,
  deleteAbout:
    'The draft and its versions go, and references to them stop working. Nothing else ever gets their name, and the deletion can be taken back.',
  deleteAllTheSame: 'Delete all the same',
  verb: 'Delete',
  lookingWhoReferencesIt: 'Looking who references it…',
  notRead: (reason: string) => `Who references it could not be read. ${reason}`,
  others: 'Others reference it, and would fail. Let them move first, or say why it must go.',
  whyItIsDeleted: 'Why it is deleted all the same',
  whyItIsDeletedHint: 'Kept with the deletion, for whoever looks for it.',
  isBack: (name: string) => `${name} is back`,
  notBroughtBack: (reason: string) => `It could not be brought back. ${reason}`,
};

export const duplicateDialog = {
  copy: (name: string) => `Copy ${name}`,
  copyAbout:
    'You get a new agent with this draft, its description and its tags. It has no versions, and nobody refers to it.',
  nameOfTheCopy: 'Name of the copy',
  verb: 'Copy',
};

export const newAgentDialog = {
  notAvailableOnThisServer: 'Not available on this server.',
  newAgent: 'New agent',
  newAgentAbout: 'A draft of your own, with one small program or your module to begin with.',
  name: 'Name',
  nameHint: 'It is in every reference, like weather@1.0.0.',
  language: 'Language',
  chooseAModule: 'Choose a module…',
  aWasiCommandOfUp: 'A WASI command of up to 32 MiB, built elsewhere.',
  create: 'Create',
  noModuleWasChosen: 'No module was chosen.',
};

export const notOpened = {
  allAgents: 'All agents',
  openTheDraft: 'Open the draft',
  thereIsNoVersion: (agentRef: ReactNode) => rich`There is no version ${agentRef}.`,
  notOpened: (agentRef: string, reason: string) => `${agentRef} could not be opened. ${reason}`,
  wasDeleted: (name: ReactNode, when: string, by: string, why: string) =>
    rich`${name} was deleted ${when}${by === '' ? '' : ` by ${by}`}${why === '' ? '.' : `: ${why}`}`,
  bringItBack: 'Bring it back',
  thereIsNoAgent: (name: ReactNode) => rich`There is no agent ${name}.`,
  createIt: 'Create it',
};

export const renameDialog = {
  isNowAndWas: (before: string, name: string) => `${before} is ${name} now; calls of ${before} go on working`,
  isNow: (before: string, name: string) => `${before} is ${name} now`,
  rename: (name: string) => `Rename ${name}`,
  renameAbout: (name: string) =>
    `References to ${name} go on working: whoever asks for it gets the agent under its new name. Nobody else can take the old one.`,
  unpublishedAbout: 'It has no version yet, so nobody refers to it. The old name becomes free.',
  newName: 'New name',
  verb: 'Rename',
};

export const agentMenu = {
  copyName: 'Copy name',
  exportAsArchive: 'Export as archive',
  takeOutOfTheRegistry: 'Take out of the registry…',
  listInTheRegistry: 'List in the registry…',
  rename: 'Rename…',
  copy: 'Copy…',
  delete: 'Delete…',
  copied: (name: string) => `Copied ${name}`,
};

export const settle = {
  theDraftIsNotSaved: 'The draft is not saved yet. Settle that first: the header says what is wrong.',
};

export const useAgentCommands = {
  copied: (reference: string) => `Copied ${reference}`,
};

export const useDraftSession = {
  editsThatHadNot: 'Edits that had not been saved are back',
  discardThem: 'Discard them',
};

export const useSchemaTexts = {
  aSchemaIsAnObject: 'A schema is an object, true or false.',
};
