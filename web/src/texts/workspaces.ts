export const closeWorkspaceDialog = {
  done: (title: string) => `Closed ${title}`,
  title: (title: string) => `Close ${title}?`,
  about:
    'Nobody enters it from then on, its tokens are revoked, and what it listed leaves the registry. What is in it is kept, and so is its name. This cannot be taken back.',
  close: 'Close the workspace',
  typeTheName: (name: string) => `Type ${name} to close it`,
};

export const newWorkspaceDialog = {
  aNameIsNeeded: 'A name is needed.',
  done: (title: string) => `Made ${title}`,
  goThere: 'Go there',
  newWorkspace: 'New workspace',
  about: 'You become its administrator. Go there to invite its people, or make a token there for a program that does.',
  makeIt: 'Make it',
  name: 'Name',
  nameHint: 'What programs say in X-Workspace, such as acme. It stays, and nobody else ever gets it.',
  title: 'Title',
  titleHint: 'What people see; the name without it.',
};

export const quotaDialog = {
  fields: {
    concurrentRuns: {
      label: 'Runs at once',
      hint: (used: string) => `Used ${used}. Those that wait included.`,
    },
    runsPerDay: {
      label: 'Runs a day',
      hint: (used: string) => `Used ${used}. Days are those of UTC.`,
    },
    cpuSecondsPerDay: {
      label: 'Processor time a day, in seconds',
      hint: (used: string) => `Used ${used}. Of all its runs together.`,
    },
    storageBytes: {
      label: 'Storage',
      hint: (used: string) => `Used ${used}. Code and what runs leave; written like 2 GiB.`,
    },
  },
  quotasOf: (title: string) => `Quotas of ${title}`,
  about: 'They count from the next run on. An empty field takes the server’s default, 0 is no limit.',
  save: 'Save',
  theQuotas: 'the quotas',
  notLoaded: (reason: string) => `The quotas could not be loaded. ${reason}`,
  done: (title: string) => `Set the quotas of ${title}`,
  theServersDefault: 'The server’s default',
};

export const quotaForm = {
  notBytes: 'A number with B, KiB, MiB, GiB or TiB that makes whole bytes, such as 2 GiB.',
  notACount: 'A whole number, 0 or more.',
};

export const renameWorkspaceDialog = {
  done: (title: string) => `The workspace is ${title} now`,
  renameTheWorkspace: 'Rename the workspace',
  about: (name: string) => `Programs go on calling it ${name}: only what people see changes.`,
  rename: 'Rename',
  title: 'Title',
};

export const workspacesPage = {
  pageTitle: 'Workspaces · Atelier',
  workspaces: 'Workspaces',
  about:
    'Each has its own people, agents, runs, secrets and tokens, and sees nothing of the others. Whoever runs the server makes and closes them, and says what each may take.',
  newWorkspace: 'New workspace…',
  theWorkspaces: 'the workspaces',
  notLoaded: (reason: string) => `The workspaces could not be loaded. ${reason}`,
  youAreNoMember: (name: string, made: string) => `${name} · made ${made} · you are no member`,
  youAre: (name: string, made: string, role: string) => `${name} · made ${made} · you are ${role}`,
  theServersOwn: 'The server’s own, where you are now',
  enterNamed: (title: string) => `Enter ${title}`,
  enter: 'Enter',
  quotasOf: (title: string) => `Quotas of ${title}`,
  quotas: 'Quotas…',
  closeNamed: (title: string) => `Close ${title}`,
  close: 'Close…',
};
