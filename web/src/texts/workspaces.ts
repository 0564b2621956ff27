export const closeWorkspaceDialog = {
  done: (title: string) => `Closed ${title}`,
  title: (title: string) => `Close ${title}?`,
  about:
    'Nobody can enter it any more, its tokens are revoked, and its agents leave the registry. Its data and name are kept. This cannot be undone.',
  close: 'Close workspace',
  typeTheName: (name: string) => `Type ${name} to close it`,
};

export const newWorkspaceDialog = {
  aNameIsNeeded: 'Enter a name.',
  done: (title: string) => `Created ${title}`,
  goThere: 'Go there',
  newWorkspace: 'New workspace',
  about: 'You become its administrator. Go there to invite people, or create a token there for a program that does.',
  makeIt: 'Create workspace',
  name: 'Name',
  nameHint: 'Programs send it in X-Workspace, for example acme. It cannot be changed or reused.',
  title: 'Title',
  titleHint: 'Shown to people. Leave empty to use the name.',
};

export const quotaDialog = {
  fields: {
    concurrentRuns: {
      label: 'Runs at once',
      hint: (used: string) => `Used ${used}, including those that wait.`,
    },
    runsPerDay: {
      label: 'Runs per day',
      hint: (used: string) => `Used ${used}. Days are in UTC.`,
    },
    cpuSecondsPerDay: {
      label: 'Processor time per day, in seconds',
      hint: (used: string) => `Used ${used}. All runs together.`,
    },
    storageBytes: {
      label: 'Storage',
      hint: (used: string) => `Used ${used}. Code and stored run data, for example 2 GiB.`,
    },
  },
  quotasOf: (title: string) => `Quotas of ${title}`,
  about: 'They apply from the next run. An empty field uses the server’s default; 0 means no limit.',
  save: 'Save',
  theQuotas: 'the quotas',
  notLoaded: (reason: string) => `The quotas could not be loaded. ${reason}`,
  done: (title: string) => `Set the quotas of ${title}`,
  theServersDefault: 'The server’s default',
};

export const quotaForm = {
  notBytes: 'Enter a size in B, KiB, MiB, GiB or TiB that makes whole bytes, such as 2 GiB.',
  notACount: 'Enter a whole number, 0 or more.',
};

export const renameWorkspaceDialog = {
  done: (title: string) => `The workspace is now ${title}`,
  renameTheWorkspace: 'Rename the workspace',
  about: (name: string) => `Programs keep using the name ${name}. Only the title changes.`,
  rename: 'Rename',
  title: 'Title',
};

export const workspacesPage = {
  pageTitle: 'Workspaces · Atelier',
  workspaces: 'Workspaces',
  about:
    'Each workspace has its own people, agents, runs, secrets and tokens, and cannot see the others. Server administrators create and close them, and set their quotas.',
  newWorkspace: 'New workspace…',
  theWorkspaces: 'the workspaces',
  notLoaded: (reason: string) => `The workspaces could not be loaded. ${reason}`,
  title: 'Title',
  name: 'Name',
  yourRole: 'Your role',
  notAMember: 'Not a member',
  made: 'Created',
  actions: 'Actions',
  youAreHere: 'You are here',
  theServersOwn: 'Default workspace of the server',
  enterNamed: (title: string) => `Enter ${title}`,
  enter: 'Enter',
  quotasOf: (title: string) => `Quotas of ${title}`,
  quotas: 'Quotas…',
  closeNamed: (title: string) => `Close ${title}`,
  close: 'Close…',
};
