import type { ReactNode } from 'react';
import { milliseconds, number } from './format';
import { rich } from './rich';

export const quotaList = {
  quotas: 'Quotas',
  changeItUnder: (workspaces: ReactNode) => rich`The limits of this workspace. Change them under ${workspaces}.`,
  workspaces: 'Workspaces',
  unlimited: 'No limit',
  changedByTheServer: 'The limits of this workspace. Server administrators can change them.',
  theQuotas: 'the quotas',
  notLoaded: (reason: string) => `The quotas could not be loaded. ${reason}`,
  counts: 'Executions are runs and schema inference. The use of the month counts only runs.',
  resets: (until: string) => `Resets ${new Date(until).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
};

export const secretsPage = {
  pageTitle: 'Secrets · Atelier',
  secrets: 'Secrets',
  about:
    'Versions that declare a name get its value when they run. It is encrypted, redacted in their output, and cannot be read again.',
  newSecret: 'New secret…',
  theSecrets: 'the secrets',
  notLoaded: (reason: string) => `The secrets could not be loaded. ${reason}`,
  noneYet: 'No secrets yet.',
  makeOne: (command: ReactNode) => rich`Create a secret here, or pipe its value into ${command}.`,
  askForOne: 'Ask a person with the scope write to create a secret.',
  declareIt:
    'Add its name to an agent, under Secrets in the configuration. A version gets only the secrets it declares.',
  readIt: (code: ReactNode) =>
    rich`The program reads the value as ${code}, or as an environment variable of the same name.`,
  orBindIt:
    'Or send the secret to one host as a header. Then the program calls the host without ever seeing the value.',
  nameOf: (name: string, agent: string) => `${name} of ${agent}`,
  removed: (name: string) => `Removed ${name}`,
  allAgents: 'All agents',
  only: (agent: string) => `Only ${agent}`,
  sentTo: (host: string, header: string) => `Sent to ${host} as ${header}, and not given to programs`,
  name: 'Name',
  for: 'For',
  set: 'Set',
  by: (person: string) => `by ${person}`,
  lastUse: 'Last use',
  never: 'never',
  actions: 'Actions',
  replaceNamed: (name: string) => `Replace ${name}`,
  replace: 'Replace…',
  removeNamed: (name: string) => `Remove ${name}`,
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeAbout: 'Runs that need it are refused from now on. The value cannot be recovered.',
  removeVerb: 'Remove',
};

/** Messages for the server's field errors, by pointer. */
const faults: Partial<Record<string, (message: string) => string>> = {
  '/name': (message) => `The name ${message}`,
  '/value': (message) => `The value ${message}`,
  '/bind/host': (message) => `The host ${message}`,
  '/bind/header': (message) => `The header ${message}`,
  '/bind/format': (message) => `The header value ${message}`,
};

export const setSecretDialog = {
  aValueIsNeeded: 'Enter a value.',
  done: (name: string) => `Set ${name}`,
  replaceNamed: (name: string) => `Replace ${name}`,
  newSecret: 'New secret',
  about: 'The value is encrypted and never shown again. Runs that start from now on get it.',
  replace: 'Replace',
  set: 'Set',
  name: 'Name',
  nameHint: 'As versions declare it, such as API_KEY.',
  onlyForThisAgent: 'Only for this agent',
  onlyForThisAgentHint: 'Its name. Leave empty for the whole workspace.',
  value: 'Value',
  valueHint: 'At least 8 bytes, because shorter values cannot be redacted. It may have several lines, like a PEM key.',
  showWhatIType: 'Show the value',
  sendItToOneHost: 'Send it to one host instead of giving it to programs',
  sendItToOneHostHint: 'As a header of ctx.fetch, and of plain HTTP through the proxy. It never enters the sandbox.',
  host: 'Host',
  hostHint: 'host:port, such as api.example.com:443.',
  header: 'Header',
  whatTheHeaderSays: 'Header value',
  whatTheHeaderSaysHint: '{value} stands for the secret.',
  faults,
};

export const words = {
  noVersionDeclaresIt: 'No version declares it',
  declaredBy: (versions: string[], more: number) =>
    more > 0 ? `Declared by ${versions.join(', ')} and ${number(more)} more` : `Declared by ${versions.join(', ')}`,
  runsAtOnce: 'Runs at once, now',
  runsToday: 'Executions today',
  processorTimeToday: 'CPU time today',
  storage: 'Storage',
  processorTime: (seconds: number) => (seconds === 0 ? '0 s' : milliseconds(seconds * 1000)),
  usedOf: (used: string, limit: string) => `${used} of ${limit}`,
  noLimit: (used: string) => `${used}, no limit`,
  notAName: 'Use up to 64 letters, digits and _; the first character is not a digit.',
};
