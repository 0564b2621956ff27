export const homePage = {
  agents: 'Agents',
  pageTitle: 'Agents · Atelier',
  theAgents: 'the agents',
  noAgent: (why: string) => `There are no agents in this workspace yet. To create one: ${why.toLowerCase()}`,
};

export const samples = {
  example: 'Example',
  welcome: 'Welcome to Atelier',
  welcomeLead:
    'A code agent is a small program with typed input and output. You write it, and models call it as a tool.',
  startWithASample: 'Start with a sample',
  lead: 'Opening a sample creates a draft of your own. No sample uses the network.',
  notOpened: (fault: string) => `The sample could not be opened. ${fault}`,
  theSamples: 'the samples',
  notLoaded: (reason: string) => `The samples could not be loaded. ${reason}`,
  newAgent: 'New agent…',
  howItGoes: 'From a draft to a tool',
  path: {
    write: { title: 'Write', text: 'TypeScript, JavaScript, Python or Bash, with completion from your schemas.' },
    run: { title: 'Run', text: 'In a sandbox, with live output. Every run is kept, to repeat or compare.' },
    publish: { title: 'Publish', text: 'A version never changes, so other programs can pin it.' },
    use: { title: 'Use', text: 'As a tool of a model, over HTTP or MCP, or from the command line.' },
  },
  deletedAgents: 'Deleted agents',
};
