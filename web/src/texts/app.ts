import type { ReactNode } from 'react';
import { rich } from './rich';

export const app = {
  theInvitation: 'the invitation',
  theStudio: 'the Studio',
  theRegistry: 'the registry',
  theVersions: 'the versions',
  theRuns: 'the runs',
  theRun: 'the run',
  theServer: 'the server',
  theSkills: 'the skills',
  theApprovals: 'the approvals',
  theBlocked: 'the blocked requests',
  theRules: 'the rules',
  blockedHere: 'The blocked requests of this workspace',
  rulesHere: 'The rules of this workspace',
  theProjects: 'the projects',
  theToolSets: 'the tool sets',
  toolSetsHere: 'The tool sets of this workspace',
  projectsHere: 'The projects of this workspace',
  approvalsHere: 'The approvals of this workspace',
  theSecrets: 'the secrets',
  theUsage: 'the usage',
  thePeople: 'the people',
  theAccount: 'the account',
  theSettings: 'the settings',
  theTokens: 'the tokens',
  theWorkspaces: 'the workspaces',
  agentsHere: 'The agents of this workspace',
  agentsOfTheRegistry: 'The agents of the registry',
  runsHere: 'The runs of this workspace',
  skills: 'The skills',
  secretsAndQuotas: 'Secrets and quotas',
  usage: 'Usage and budgets',
  peopleHere: 'The people of this workspace',
  workspaces: 'The workspaces of this server',
  tokens: 'Tokens',
  theAgent: 'the agent',
  allAgents: 'All agents',
  pageNotFound: 'Page not found',
  notFoundTitle: 'Not found · Atelier',
  noPageAt: (address: ReactNode) =>
    rich`There is no page at ${address}. It may have been moved, or the link is incomplete.`,
  allRuns: 'All runs',
  search: 'Search…',
};

export const brand = {
  atelierAllAgents: 'Atelier, all agents',
  places: 'Main',
  goToAPage: 'Go to a page',
  agents: 'Agents',
  commandPalette: (keys: string) => `Command palette (${keys})`,
  switchToLightTheme: 'Switch to light theme',
  switchToDarkTheme: 'Switch to dark theme',
  account: 'Account',
  settings: 'Settings',
  notSignedIn: 'Not signed in',
  goTo: (title: string) => `Go to ${title}`,
  runs: 'Runs',
  publicRegistry: 'Public registry',
  skills: 'Skills',
  toolSets: 'Tool sets',
  approvals: 'Approvals',
  blocked: 'Blocked requests',
  rules: 'Rules',
  projects: 'Projects',
  waiting: (n: number) => `${String(n)} waiting`,
  server: 'Server',
  people: 'People',
  tokens: 'Tokens',
  workspaces: 'Workspaces',
  secretsAndQuotas: 'Secrets and quotas',
  usage: 'Usage and budgets',
  keyboardShortcuts: 'Keyboard shortcuts',
  lightTheme: 'Light theme',
  darkTheme: 'Dark theme',
  signOut: 'Sign out',
  stillSignedIn: (reason: string) => `You are still signed in. ${reason}`,
};

export const errorBoundary = {
  title: 'The page stopped',
  allAgents: 'All agents',
  thePageStopped: (reason: string) =>
    `Your edits are stored in this browser. Reload to go on. If it happens again, report this: ${reason}`,
  reload: 'Reload',
};

export const clipboard = {
  notCopied: 'The browser did not allow copying.',
  copied: 'Copied',
};

export const notices = {
  notices: 'Notices',
  dismiss: 'Dismiss',
};

export const palette = {
  commandPalette: 'Command palette',
  typeAnything: 'Type a command, a file or an agent',
  typeAPlace: 'Type a file or an agent',
  nothingMatches: 'Nothing matches.',
  commands: 'Commands',
  files: 'Files',
  agents: 'Agents',
};

export const passwordForm = {
  giveYourNameAnd: 'Enter your name and password.',
  name: 'Name',
  password: 'Password',
  signIn: 'Sign in',
};

export const shortcuts = {
  keyboardShortcuts: 'Keyboard shortcuts',
  groups: { Run: 'Run', Agent: 'Agent', Go: 'Go to', View: 'View', Help: 'Help' },
  note: 'In the editor, F1 lists its own commands, and Ctrl+M lets Tab leave it.',
};

export const signIn = {
  notStartedHere: 'That sign-in was not started in this browser, or it took longer than ten minutes. Start again.',
  refusedByProvider: 'The provider did not let you in, or its answer could not be verified. Start again.',
  noRole: 'The provider signed you in, but none of your groups has a role here. Ask an administrator for one.',
  providerUnreachable: 'The sign-in provider cannot be reached. Use another way below, or try again later.',
  tooManyFailures: 'Too many failed sign-ins from here. Wait a minute, then try again.',
  serverFailed: 'The server could not sign you in. Its log says why.',
  signInToAtelier: 'Sign in to Atelier',
  waysNotLoaded: (reason: string) => `The other ways to sign in could not be loaded. ${reason}`,
  signInWith: (name: string) => `Sign in with ${name}`,
  useALinkOr: 'Use a link or a token',
  useANameAnd: 'Use a name and password',
};

export const statusLine = {
  sandbox: (level: string, missing: number) => `Sandbox: ${level}${missing > 0 ? `, ${missing} missing` : ''}`,
  missing: (names: string) => `Missing: ${names}`,
  connected: 'Connected',
  noNetwork: 'No network',
  notReached: 'Server not reachable',
};

export const tokenForm = {
  pasteTheTokenFirst: 'Paste a token first.',
  opensNothing: 'This token does not work here: it is incomplete, has expired or was revoked.',
  openTheLinkThatPrinted: (command: ReactNode) =>
    rich`Open the link that ${command} printed when it started. It works once; every start of the server prints a new one.`,
  orPasteAToken: 'Or paste a token. You can then do what the token allows.',
  token: 'Token',
  signIn: 'Sign in',
};

export const workbench = {
  agents: 'Agents',
  code: 'Code',
  page: 'Page',
  output: 'Output',
  configuration: 'Configuration',
  skipToTheEditor: 'Skip to the editor',
  skipToThePage: 'Skip to the page',
  agentsAndFiles: 'Agents and files',
  widthOfTheLeftPanel: 'Width of the left panel',
  editor: 'Editor',
  panes: 'Panes',
  heightOfTheOutputPanel: 'Height of the output panel',
  widthOfTheConfiguration: 'Width of the configuration',
};

export const hotkeys = {
  allCommands: 'All commands',
  reference: 'ctx and runtime reference',
  tour: 'Tour of the workbench',
  run: 'Run',
  runWithTheLastInput: 'Run with the last input again',
  stop: 'Stop',
  newAgent: 'New agent…',
  describeAgent: 'Describe a new agent…',
  assistChange: 'Language model: describe a change…',
  assistExplain: 'Language model: explain the code',
  assistReview: 'Language model: review the code',
  assistTests: 'Language model: write tests',
  assistDocument: 'Language model: document the code',
  assistSchemas: 'Language model: write schemas',
  saveNow: 'Save now',
  publish: 'Publish…',
  exportAsTool: 'Export as tool',
  connect: 'Connect a client…',
  copyReference: 'Copy reference',
  versionsOfThisAgent: 'Versions of this agent',
  compareWithTheLastVersion: 'Compare with the last version',
  discardTheDraft: 'Discard the draft…',
  renameThisAgent: 'Rename this agent…',
  copyThisAgent: 'Copy this agent…',
  exportThisAgentAsArchive: 'Export this agent as archive',
  listInTheRegistry: 'List in the registry, or remove…',
  deleteThisAgent: 'Delete this agent…',
  importAnArchive: 'Import an archive…',
  exportAllAgentsAsArchive: 'Export all agents as archive',
  formatThisFile: 'Format this file',
  newFile: 'New file',
  uploadFiles: 'Upload files…',
  searchInFiles: 'Search in files',
  commandPalette: 'Command palette',
  goToFileOrAgent: 'Go to file or agent',
  allAgents: 'All agents',
  publicRegistry: 'Public registry',
  skills: 'Skills',
  toolSets: 'Tool sets',
  allRuns: 'All runs',
  server: 'Server: engines and sandbox',
  settings: 'Settings',
  tokens: 'Tokens',
  people: 'People',
  secretsAndQuotas: 'Secrets and quotas',
  usage: 'Usage and budgets',
  approvals: 'Approvals',
  blocked: 'Blocked requests',
  rules: 'Rules of the gate',
  workspaces: 'Workspaces of this server',
  previousTab: 'Previous tab',
  nextTab: 'Next tab',
  closeTab: 'Close tab',
  nextRegion: 'Next region',
  previousRegion: 'Previous region',
  toggleLeftPanel: 'Toggle left panel',
  toggleBottomPanel: 'Toggle bottom panel',
  toggleConfiguration: 'Toggle configuration',
  maximiseOrRestoreBottomPanel: 'Maximise or restore bottom panel',
  toggleProblems: 'Toggle problems',
  wrapLines: 'Wrap long lines of the output',
  editorSettings: 'Editor settings…',
  switchTheme: 'Switch theme',
  keyboardShortcuts: 'Keyboard shortcuts',
};

export const tour = {
  title: 'Tour',
  leave: 'Leave the tour',
  back: 'Back',
  next: 'Next',
  done: 'Done',
  count: (step: number, all: number) => `${step} of ${all}`,
  steps: {
    code: {
      title: 'Write the program',
      text: 'It gets the input and returns the output. Completion knows both. Every edit is saved as a draft.',
    },
    config: {
      title: 'Describe it',
      text: 'Models choose an agent by its description and call it by its schemas. Network, secrets and limits are below.',
    },
    run: {
      title: 'Run it',
      text: 'Fill in the input and press Ctrl+Enter. The console shows the output live, and Result shows what was returned.',
    },
    history: {
      title: 'Look back, keep tests',
      text: 'History has every run, to repeat or compare. A result can be kept as a test that runs before publishing.',
    },
    publish: {
      title: 'Publish and use it',
      text: 'A published version never changes. Export it as a tool for your model or call it over HTTP, MCP or the command line.',
    },
  },
};
