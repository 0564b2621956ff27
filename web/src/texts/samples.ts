export const homePage = {
  agents: 'Agents',
  pageTitle: 'Agents · Atelier',
  theAgents: 'the agents',
  noAgent: (why: string) => `There are no agents in this workspace yet. To create one: ${why.toLowerCase()}`,
};

export const samples = {
  example: 'Example',
  startWithASample: 'Start with a sample',
  lead: 'A code agent is a small program with typed input and output. Opening a sample creates a draft of your own: run it, change it, publish it, export it as a tool.',
  notOpened: (fault: string) => `The sample could not be opened. ${fault}`,
  theSamples: 'the samples',
  notLoaded: (reason: string) => `The samples could not be loaded. ${reason}`,
  offline: (language: string) => `${language} · network: off`,
  newAgent: 'New agent…',
  deletedAgents: 'Deleted agents',
};
