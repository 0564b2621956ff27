import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const about = {
  openTheDraft: 'Open the draft',
  actionsFor: (name: string) => `Actions for ${name}`,
  inThePublicRegistry: 'In the public registry',
  tags: 'Tags',
  neverRun: (created: string) => `Never run · created ${created}`,
  runsTheLast: (usageCount: number, when: string, created: string) =>
    `${plural(usageCount, { one: 'run', other: 'runs' })}, the last ${when} · created ${created}`,
};

export const deprecateDialog = {
  theVersion: 'the version',
  references: 'its references',
  notLoaded: (reason: string) => `The version could not be loaded. ${reason}`,
  gone: (version: string) => `There is no version ${version} any more.`,
  referencesNotLoaded: (reason: string) => `What references it could not be loaded. ${reason}`,
  isDeprecated: (name: string, version: string) => `${name}@${version} is deprecated`,
  isAsGoodAsNew: (name: string, version: string) => `${name}@${version} is no longer deprecated`,
  sayWhy: 'Say why: callers read it with every run.',
  deprecateNamed: (name: string, version: string) => `Deprecate ${name}@${version}`,
  deprecateAbout: 'It keeps running, and says so with every run. Ranges and latest use it only if nothing else fits.',
  takeItBack: 'Undo deprecation',
  change: 'Change',
  verb: 'Deprecate',
  why: 'Why',
  whyHint: 'A sentence for callers, such as what it does wrong.',
  whatToUseInstead: 'What to use instead',
  noOther: 'There is no other version to move to; a reference to another agent works too.',
  whatToUseInsteadHint: 'A version of this agent, or a reference to another one.',
  whoMustMove: 'Who must move',
  theseMustMove: (successor: string) => `These use it now and must move${successor === '' ? '' : ` to ${successor}`}:`,
  nobodyIsRegisteredAsUsing: 'Nobody is registered as using it.',
};

export const originNote = {
  copiedFrom: (name: string, version: string) => `Copied from ${name} ${version} of the public registry.`,
  newerVersionAtOrigin: (newer: string) => `Newer version at origin: ${newer}.`,
  lookAtIt: 'Look at it in the registry',
};

export const pinTable = {
  whoReferencesIt: 'Who references it',
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
    `${from} replaces the draft: its files, its schemas and its settings. Edits that were not published are lost. No version changes.`,
  seeWhatWouldGo: 'See what would be lost',
  discard: 'Discard',
  makeItTheDraft: 'Replace the draft',
};

export const versionList = {
  versions: 'Versions',
  compare: 'Compare…',
  publishTheDraft: 'Publish the draft…',
  notLoaded: (reason: string) => `The versions could not be loaded. ${reason}`,
  lineNotMade: (reason: string) => `What the version takes could not be loaded. ${reason}`,
  theVersions: 'the versions',
  versionsOf: (name: string) => `Versions of ${name}`,
  draft: 'Draft',
  notPublishedYet: 'Not published yet.',
  revision: (when: string, revision: number) => `${when} · revision ${revision}`,
  actionsForTheDraft: 'Actions for the draft',
  compareWith: (latestVersion: string) => `Compare with ${latestVersion}`,
  discardTheDraft: 'Discard the draft…',
  comparingWith: (latest: string) => `Comparing with ${latest}…`,
  notCompared: (latest: string, reason: string) => `It could not be compared with ${latest}. ${reason}`,
  theSameAs: (latest: string) => `The same as ${latest}.`,
  aChangeSince: (bump: string, latest: string, version: string) =>
    `A ${bump} change since ${latest}: ${version} comes next.`,
  open: 'Open',
  copyReference: 'Copy reference',
  copyReferenceByDigest: 'Copy reference by digest',
  copyTheLineFor: 'Copy the line for a terminal',
  exportAsTool: 'Export as tool',
  compareWithTheDraft: 'Compare with the draft',
  newDraftFromThisVersion: 'New draft from this version…',
  changeTheDeprecation: 'Change the deprecation…',
  deprecate: 'Deprecate…',
  latest: 'latest',
  deprecated: 'deprecated',
  noReasonWasGiven: 'No reason was given.',
  use: (successor: ReactNode) => rich`Use ${successor}.`,
  noChangelog: 'No changelog',
  referencesToIt: (n: number) => `${plural(n, { one: 'reference', other: 'references' })} to it`,
  actionsFor: (version: string) => `Actions for ${version}`,
};

export const versionsPage = {
  pageTitle: (name: string) => `Versions of ${name} · Atelier`,
  isNow: (name: string, present: string) => `${name} is now ${present}`,
  versions: 'Versions',
  whoReferencesIt: 'Who references it',
  notLoaded: (reason: string) => `What references it could not be loaded. ${reason}`,
  pins: 'who references it',
  none: (command: ReactNode, request: ReactNode) =>
    rich`Nothing is registered yet. Workflows, tool sets and other programs register what they reference with ${command} or ${request}, so that nobody deletes it under them.`,
};
