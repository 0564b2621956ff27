import { plural } from './format';

export const copyDialog = {
  copy: (name: string, version: string) => `Copy ${name} ${version}`,
  copyAbout: 'You get an agent whose draft is this version. What its author publishes later does not change it.',
  nameOfTheCopy: 'Name of the copy',
  verb: 'Copy',
};

export const listDialog = {
  notListedNow: (name: string) => `${name} is not listed any more`,
  isListed: (name: string) => `${name} is listed`,
  takeOut: (name: string) => `Take ${name} out of the registry?`,
  list: (name: string) => `List ${name} in the registry?`,
  takeOutAbout: 'Nobody finds it there any more. Copies that were made stay as they are.',
  listAbout:
    'Every workspace of this server can then read and copy its published versions, with their code and environment. Secrets are names only.',
  takeItOut: 'Take it out',
  listIt: 'List it',
};

export const registryPage = {
  pageTitle: 'Public registry · Atelier',
  publicRegistry: 'Public registry',
  lead: 'Published agents that workspaces of this server list. A copy is an agent of your own: it remembers where it came from and tells when there is a newer version there.',
  searchTheRegistry: 'Search the registry',
  placeholder: 'Name, title, description or tag',
  theRegistry: 'the registry',
  nothingIsListedYet: 'Nothing is listed yet. An agent with a published version can be listed from its menu.',
  nothingMatches: (search: string) => `Nothing matches “${search}”.`,
  listedAgents: 'Listed agents',
  runs: (usageCount: number) => plural(usageCount, { one: 'run', other: 'runs' }),
  copy: (name: string) => `Copy ${name}`,
  copyButton: 'Copy…',
};
