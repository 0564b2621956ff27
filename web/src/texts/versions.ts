import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const about = {
  title: (name: string) => `Versions of ${name}`,
  openTheDraft: 'Open the draft',
  actionsFor: (name: string) => `Actions for ${name}`,
  inThePublicRegistry: 'In the public registry',
  tags: 'Tags',
  neverRun: (created: string) => `No version called yet · created ${created}`,
  runsTheLast: (usageCount: number, when: string, created: string) =>
    `${plural(usageCount, { one: 'run', other: 'runs' })}, the last ${when} · created ${created}`,
};

export const deprecateDialog = {
  theVersion: 'the version',
  references: 'its references',
  notLoaded: (reason: string) => `The version could not be loaded. ${reason}`,
  gone: (version: string) => `There is no version ${version} any more.`,
  referencesNotLoaded: (reason: string) => `Its references could not be loaded. ${reason}`,
  isDeprecated: (name: string, version: string) => `${name}@${version} is deprecated`,
  isNoLongerDeprecated: (name: string, version: string) => `${name}@${version} is no longer deprecated`,
  sayWhy: 'Enter a reason. Callers read it with every run.',
  deprecateNamed: (name: string, version: string) => `Deprecate ${name}@${version}`,
  deprecateAbout:
    'It keeps running, with a warning on every run. Ranges and latest use it only if no other version matches.',
  undoDeprecation: 'Undo deprecation',
  change: 'Change',
  verb: 'Deprecate',
  why: 'Reason',
  whyHint: 'A sentence for callers, for example its fault.',
  successor: 'Successor',
  noOther: 'There is no other version to move to; a reference to another agent works too.',
  successorHint: 'A version of this agent, or a reference to another one.',
  affected: 'Affected programs',
  theseMustMove: (successor: string) =>
    `These programs use it and must move${successor === '' ? '' : ` to ${successor}`}:`,
  nobodyIsRegisteredAsUsing: 'No program references it.',
};

export const originNote = {
  copiedFrom: (name: string, version: string) => `Copied from ${name} ${version} of the public registry.`,
  newerVersionAtOrigin: (newer: string) => `Newer version at origin: ${newer}.`,
  lookAtIt: 'Look at it in the registry',
};

export const pinTable = {
  usedBy: 'Used by',
  pinned: 'pinned',
  gets: (version: string) => `gets ${version}`,
  standsForNothingNow: 'matches no version now',
  deprecatedMustMove: 'deprecated, must move',
  getsWhichIsDeprecated: (version: string) => `gets ${version}, which is deprecated`,
};

export const redraftDialog = {
  done: (from: string) => `The draft is now the same as ${from}`,
  discardTheDraft: 'Discard the draft?',
  newDraftFrom: (from: string) => `New draft from ${from}?`,
  about: (from: string) =>
    `${from} replaces the draft: its files, its schemas and its settings. Edits that were not published stay in the saved drafts. No version changes.`,
  seeWhatWouldGo: 'Show the edits that would be replaced',
  discard: 'Discard',
  makeItTheDraft: 'Replace the draft',
};

export const savedDrafts = {
  title: 'Saved drafts',
  history: 'History of the draft',
  about: 'The last 50 saves of the draft, and saves with a label. Open one to restore it.',
  listOf: (name: string) => `Saved drafts of ${name}`,
  theList: 'the saved drafts',
  notLoaded: (reason: string) => `The saved drafts could not be loaded. ${reason}`,
  revision: 'Revision',
  number: (revision: number) => `Revision ${revision}`,
  show: (revision: number) => `Show revision ${revision}`,
  current: 'current',
  changed: 'Changed',
  settings: 'settings',
  more: (n: number) => `and ${n} more`,
  nothing: 'no differences',
  saved: 'Saved',
  by: (person: string) => `by ${person}`,
  actions: 'Actions',
  compare: 'Compare…',
  compareNamed: (revision: number) => `Compare revision ${revision} with the draft`,
};

export const savedDraftDialog = {
  title: (revision: number) => `Saved draft, revision ${revision}`,
  about: (when: string, person: string | undefined) => `Saved ${when}${person === undefined ? '' : ` by ${person}`}.`,
  theSave: 'the saved draft',
  back: 'All saves',
  notLoaded: (reason: string) => `The saved draft could not be loaded. ${reason}`,
  same: 'It is the same as the draft.',
  direction: 'If you restore it, the red lines go and the green lines come back.',
  differences: 'Differences from the draft',
  draft: 'draft',
  save: (revision: number) => `revision ${revision}`,
  label: 'Label',
  labelHint: 'A save with a label is kept when it is older than the last 50.',
  storeLabel: 'Store label',
  labelled: (revision: number) => `The label of revision ${revision} is stored`,
  unlabelled: (revision: number) => `Revision ${revision} has no label now`,
  restore: 'Restore',
  restored: (revision: number, before: number) =>
    `Revision ${revision} is the draft again. Revision ${before} stays in the saved drafts.`,
};

export const versionList = {
  versions: 'Versions',
  compare: 'Compare…',
  publishTheDraft: 'Publish the draft…',
  notLoaded: (reason: string) => `The versions could not be loaded. ${reason}`,
  lineNotMade: (reason: string) => `The input schema of the version could not be loaded. ${reason}`,
  theVersions: 'the versions',
  versionsOf: (name: string) => `Versions of ${name}`,
  draft: 'Draft',
  notPublishedYet: 'Not published yet.',
  version: 'Version',
  changes: 'Changes',
  runtime: 'Runtime',
  usedBy: 'Used by',
  changed: 'Changed',
  actions: 'Actions',
  by: (person: string) => `by ${person}`,
  more: (n: number) => `and ${n} more`,
  revision: (revision: number) => `revision ${revision}`,
  actionsForTheDraft: 'Actions for the draft',
  compareWith: (latestVersion: string) => `Compare with ${latestVersion}`,
  discardTheDraft: 'Discard the draft',
  comparingWith: (latest: string) => `Comparing with ${latest}…`,
  notCompared: (latest: string, reason: string) => `It could not be compared with ${latest}. ${reason}`,
  theSameAs: (latest: string) => `No changes since ${latest}.`,
  aChangeSince: (bump: string, latest: string, version: string) =>
    `A ${bump} change since ${latest}: ${version} comes next.`,
  open: 'Open',
  copyReference: 'Copy reference',
  copyReferenceByDigest: 'Copy reference by digest',
  copyTheLineFor: 'Copy the line for a terminal',
  exportAsTool: 'Export as tool',
  compareWithTheDraft: 'Compare with the draft',
  newDraftFromThisVersion: 'New draft from this version',
  changeTheDeprecation: 'Change the deprecation…',
  deprecate: 'Deprecate…',
  latest: 'latest',
  deprecated: 'deprecated',
  noReasonWasGiven: 'No reason was given.',
  use: (successor: ReactNode) => rich`Use ${successor}.`,
  noChangelog: 'No changelog',
  actionsFor: (version: string) => `Actions for ${version}`,
};

export const versionTimeline = {
  about: (n: number, from: string, to: string) =>
    `${plural(n, { one: 'version', other: 'versions' })} from ${from} to ${to}.`,
  usedAre: (used: string[], deprecated: number) =>
    `Used: ${used.length === 0 ? 'none' : used.join(', ')}. Deprecated: ${deprecated}.`,
  point: (version: string, day: string, users: number) =>
    users === 0 ? `${version}, ${day}` : `${version}, ${day}, used by ${users}`,
  version: 'version',
  used: 'used',
  deprecated: 'deprecated',
};

export const versionsPage = {
  pageTitle: (name: string) => `Versions of ${name} · Atelier`,
  isNow: (name: string, present: string) => `${name} is now ${present}`,
  versions: 'Versions',
  usedBy: 'Used by',
  notLoaded: (reason: string) => `Its references could not be loaded. ${reason}`,
  pins: 'the references',
  none: (command: ReactNode, request: ReactNode) =>
    rich`No references yet. Programs register a reference with ${command} or ${request}, which protects the agent from deletion.`,
};
