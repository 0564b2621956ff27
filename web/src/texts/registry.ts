import type { ReactNode } from 'react';
import { safetySection } from './config';
import { plural } from './format';
import { rich } from './rich';

export const copyDialog = {
  copy: (name: string, version: string) => `Copy ${name} ${version}`,
  copyAbout: 'Creates an agent whose draft is this version. Later versions of the original do not change it.',
  nameOfTheCopy: 'Name of the copy',
  verb: 'Copy',
};

export const listDialog = {
  notListedNow: (name: string) => `${name} is no longer listed`,
  isListed: (name: string) => `${name} is listed`,
  takeOut: (name: string) => `Remove ${name} from the registry?`,
  list: (name: string) => `List ${name} in the registry?`,
  takeOutAbout: 'It is no longer found there. Existing copies stay as they are.',
  listAbout:
    'Every workspace of this server can then read and copy its published versions, with their code and environment. They see only the names of secrets.',
  takeItOut: 'Remove',
  listIt: 'List',
};

export const chooseToListDialog = {
  title: 'List an agent',
  agent: 'Agent',
  hint: 'Agents of this workspace with a published version.',
  loading: 'Loading the agents…',
  none: 'No published agent is left to list. Publish a version first.',
  listIt: 'List',
};

export const registryPage = {
  pageTitle: 'Public registry · Atelier',
  publicRegistry: 'Public registry',
  lead: 'Agents that the workspaces of this server share. Copy one into your workspace to change it. A copy shows when its original has a newer version.',
  searchTheRegistry: 'Search the registry',
  placeholder: 'Name, title, description or tag',
  language: 'Language',
  allLanguages: 'All languages',
  anyTagNotOnly: (tag: string) => `Any tag, not only ${tag}`,
  onlyTag: (tag: string) => `Only the tag ${tag}`,
  theRegistry: 'the registry',
  nothingIsListedYet: 'Nothing is listed yet.',
  publishIt: 'Publish a version of an agent that is useful to others. Its description says when to use it.',
  listIt: (verb: string) => `List it with “${verb.replace('…', '')}” on this page, or from the menu of the agent.`,
  copyIt: 'Other workspaces find it here, read its code, and copy it. Their copies say when a newer version exists.',
  listAnAgent: 'List an agent…',
  nothingMatches: 'Nothing matches.',
  showAll: 'Show all',
  listedAgents: 'Listed agents',
  deprecated: 'deprecated',
  agent: 'Agent',
  publisher: 'Listed by',
  version: 'Version',
  runs: 'Runs',
  lastChange: 'Last change',
  actions: 'Actions',
  copy: (name: string) => `Copy ${name}`,
  copyButton: 'Copy…',
};

const runs = (n: number): string => plural(n, { one: 'run', other: 'runs' });

export const listedPage = {
  pageTitle: (publisher: string, name: string) => `${publisher}/${name} · Public registry · Atelier`,
  publicRegistry: 'Public registry',
  isNow: (name: string, present: string) => `${name} is now ${present}`,
  isNotThere: (reference: ReactNode) =>
    rich`There is no agent ${reference} in the public registry. It may have been removed.`,
  noSuchVersion: (reference: ReactNode) => rich`There is no version ${reference} in the public registry.`,
  notLoaded: (reason: string) => `The agent could not be loaded. ${reason}`,
  showTheLatest: 'Show the latest version',
  openInTheEditor: 'Open in the editor',
  copyToMyWorkspace: 'Copy to my workspace…',
  by: (publisher: ReactNode, own: boolean, usageCount: number) =>
    rich`Listed by ${publisher}${own ? ' (this workspace)' : ''} · ${runs(usageCount)}`,
  tags: 'Tags',
  version: 'Version',
  option: (version: string, latest: boolean, deprecated: boolean) =>
    `${version}${latest ? ' · latest' : ''}${deprecated ? ' · deprecated' : ''}`,
  published: (when: string, language: string, runtime: string) =>
    `Published ${when} · ${language} · runtime ${runtime}`,
  isDeprecated: (version: string, reason: string) =>
    `${version} is deprecated. ${reason === '' ? 'No reason was given.' : reason}`,
  use: (successor: ReactNode) => rich`Use ${successor}.`,
  input: 'Input',
  output: 'Output',
  readMe: 'Read me',
};

export const useIt = {
  useIt: 'Use it',
  exportAsTool: 'Export as tool',
  copyItFirst:
    'Runs, references and tools name agents of your own workspace: copy this one, publish the copy, and export that as a tool.',
  reference: 'Reference',
  pinned: 'Pinned by digest',
  fromATerminal: 'From a terminal',
  overHttp: 'Over HTTP',
  copyFromATerminal: 'Copy from a terminal',
  digest: 'Digest',
  copyOne: (label: string) => `Copy: ${label}`,
};

const flagNames: Record<string, string> = {
  pii_risk: safetySection.personalData,
  external_call: safetySection.externalCall,
  side_effect: safetySection.sideEffect,
  file_system: safetySection.files,
  network_access: safetySection.network,
};

export const needs = {
  requirements: 'Requirements',
  network: 'Network',
  off: 'Off',
  none: 'None',
  secrets: 'Secrets',
  environment: 'Environment',
  packages: 'Packages',
  processes: 'Processes',
  startsOthers: 'May start others',
  safetyFlags: 'Safety flags',
  flags: (flag: string) => flagNames[flag] ?? flag,
  limits: 'Limits',
  serverDefault: 'server default',
  limitsOf: (time: string, memory: string) => `Time: ${time} · Memory: ${memory}`,
};

export const listedSource = {
  source: 'Source',
  files: 'Files',
  contentOf: (path: string) => `Content of ${path}`,
};

export const listedVersions = {
  versions: 'Versions',
  versionsOf: (name: string) => `Versions of ${name}`,
  latest: 'latest',
  deprecated: 'deprecated',
  noReasonWasGiven: 'No reason was given.',
  noChangelog: 'No changelog',
};
