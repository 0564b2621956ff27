import { plural } from './format';

export const changes = {
  schemas: 'Schemas',
  capabilities: 'Capabilities',
  limits: 'Limits',
  settings: 'Settings',
  schemasAsJson: 'Schemas as JSON',
  packages: 'Packages',
  packageChanged: ({ name, before = 'none', after = 'none' }: { name: string; before?: string; after?: string }) =>
    `${name} ${before} → ${after}`,
  whatChanged: 'Summary of changes',
  changesOf: (title: string) => `Changes of ${title}`,
  field: 'Field',
  none: 'none',
  before: 'before',
  fields: {
    'capabilities.hosts': 'Network hosts',
    'capabilities.hostFunctions': 'Host functions',
    'capabilities.subprocess': 'Subprocesses',
    'capabilities.tools': 'Tools',
    'capabilities.files': 'Files of projects',
    'capabilities.pinned': 'Pinned agents',
    secrets: 'Secrets',
    title: 'Title',
    description: 'Description',
    language: 'Language',
    runtime: 'Runtime',
    safetyFlags: 'Safety flags',
    inputSchema: 'Input schema',
    outputSchema: 'Output schema',
    isolation: 'Run isolation',
    entrypoint: 'Entrypoint',
    packages: 'Packages',
    environment: 'Environment',
    requiresApproval: 'Requires approval',
    deterministic: 'Deterministic',
    rules: 'Rules',
    'limits.timeoutMs': 'Timeout (ms)',
    'limits.cpuMs': 'CPU time (ms)',
    'limits.memoryBytes': 'Memory (bytes)',
    'limits.processes': 'Processes',
    'limits.outputBytes': 'Output (bytes)',
    'limits.diskBytes': 'Disk (bytes)',
    'limits.recursionDepth': 'Recursion',
  } as Readonly<Record<string, string>>,
};

export const packageChanges = {
  title: 'Package changes',
  counted: (added: number, removed: number, changed: number) => {
    const parts = [
      ...(added > 0 ? [`adds ${plural(added, { one: 'package', other: 'packages' })}`] : []),
      ...(removed > 0 ? [`removes ${plural(removed, { one: 'package', other: 'packages' })}`] : []),
      ...(changed > 0 ? [`changes ${plural(changed, { one: 'package', other: 'packages' })}`] : []),
    ];
    return `This version ${parts.join(', ')}.`;
  },
  changed: ({ name, before = 'none', after = 'none' }: { name: string; before?: string; after?: string }) =>
    `${name} ${before} → ${after}`,
  resolving: 'Resolving the packages…',
  notResolved: (reason: string) => `The packages could not be resolved. ${reason}`,
};

export const compareDialog = {
  compare: (name: string) => `Compare ${name}`,
  from: 'From',
  to: 'To',
  swap: 'Swap',
  theComparison: 'the comparison',
  notCompared: (reason: string) => `The versions could not be compared. ${reason}`,
  theDraft: 'The draft',
  same: 'No differences.',
  aChange: (bump: string) => `A ${bump} change.`,
  aChangeTo: (bump: string, version: string) => `A ${bump} change: the next version is ${version}.`,
};

export const diffFile = {
  counts: (added: number, removed: number) =>
    `${plural(added, { one: 'line', other: 'lines' })} added, ${plural(removed, { one: 'line', other: 'lines' })} removed`,
};

export const fileChange = {
  lines: 'Lines',
  sideBySide: 'Side by side',
  inline: 'Inline',
  noRoom: 'The window is too narrow for two columns.',
  showAs: (path: string) => `Show ${path} as`,
  itIsNotText: 'This file is not text.',
  emptyOrTooLarge: 'This file is empty, or too large to compare line by line.',
  changesOf: (path: string) => `Changes of ${path}`,
  notLoaded: (reason: string) => `The file could not be loaded. ${reason}`,
};

export const textDiff = {
  changesOf: (path: string) => `Changes of ${path}`,
};
