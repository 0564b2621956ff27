import { plural } from './format';

export const environmentSection = {
  environment: 'Environment',
  none: 'None',
  variables: (count: number) => plural(count, { one: 'variable', other: 'variables' }),
  plainValuesInCtxEnv: 'Plain values, in ctx.env and as environment variables. Secrets are listed separately below.',
  nameOfVariable: (n: number) => `Name of variable ${n}`,
  valueOf: (name: string, n: number) => `Value of ${name === '' ? `variable ${n}` : name}`,
  remove: (name: string, n: number) => `Remove ${name === '' ? `variable ${n}` : name}`,
  placeholder: 'NAME',
  addVariable: 'Add variable',
  variablesTitle: 'Variables',
};

/** Values that are shown as text. */
export const plain = {
  none: 'None',
};

export const generalSection = {
  description: 'Description',
  title: 'Title',
  descriptionHint: 'Models read this to decide when to call the agent: say what it returns, for which input.',
  noDescription: 'Missing',
  tags: 'Tags',
  tagsHint: 'Separated by commas',
};

export const networkSection = {
  network: 'Network',
  off: 'Off',
  hosts: (n: number) => plural(n, { one: 'host', other: 'hosts' }),
  hostsOneALine: 'Hosts, one per line',
  hostsOneALineHint: 'As host:port. *.example.com:443 covers all subdomains. List private addresses one by one.',
  placeholder: 'api.example.com:443',
};

export const runtimeReason = {
  runtime: 'Runtime',
};

export const runtimeSection = {
  thisServerCannotRun: (language: string, reason = '') => `This server cannot run ${language}. ${reason}`,
  runtime: 'Runtime',
  entrypoint: 'Entrypoint',
  isolationOfRuns: 'Run isolation',
};

export const safetySection = {
  personalData: 'Personal data',
  itMayReadOrReturn: 'It may read or return data about people.',
  externalCall: 'External call',
  itCallsAServiceOutside: 'It calls a service outside the workspace.',
  sideEffect: 'Side effect',
  runningItTwiceIs: 'Running it twice is not the same as once.',
  files: 'Files',
  itReadsOrWritesFiles: 'It reads or writes files beyond its own.',
  network: 'Network',
  itReachesTheHosts: 'It reaches the hosts granted under Network.',
  safetyFlags: 'Safety flags',
  none: 'None',
  theyTellCallersWhat: 'Information for callers. They grant no permission.',
  restricted: 'Restricted',
  restrictedHint:
    'Only imports from a list, and no code made from text, such as eval. This is a convention; the sandbox protects.',
};

export const schemaSection = {
  inputSchema: 'Input schema',
  outputSchema: 'Output schema',
  anyValue: 'Any value',
  properties: (n: number) => plural(n, { one: 'property', other: 'properties' }),
  notValid: 'Not valid',
  edit: 'Edit',
  show: 'Show',
};

export const secretsSection = {
  secrets: 'Secrets',
  notSet: (n: number) => `${n} not set`,
  none: 'None',
  secretsNamed: (n: number) => plural(n, { one: 'secret', other: 'secrets' }),
  namesOneALine: 'Names, one per line',
  namesOneALineHint: 'Values come from the workspace when it runs, in ctx.env and as environment variables.',
  placeholder: 'API_KEY',
  declaredSecrets: 'Declared secrets',
  notSetMark: 'not set',
  set: (declared: string) => `Set ${declared}`,
  setButton: 'Set…',
  setSentTo: (host: string) => `set, sent to ${host}`,
  setForAllAgents: 'set for all agents',
  setForThisAgent: 'set for this agent',
};

export const packagesSection = {
  packages: 'Packages',
  none: 'None',
  packagesNamed: (n: number) => plural(n, { one: 'package', other: 'packages' }),
  oneALine: 'Packages, one per line',
  hint: 'A name with versions. The first run resolves them, and publishing keeps exactly what ran.',
  pythonExample: 'requests==2.32.3',
  npmExample: 'zod@^4',
  resolve: 'Show exact versions',
  renew: 'Resolve again',
  install: 'Install',
  installed: 'Installed.',
  installing: (step: string, done: number, total: number) =>
    done === 0 ? `Installing: ${step}…` : `Installing: ${step} ${String(done)} of ${String(total)}…`,
  addPackage: 'Add a package',
  findByName: 'Find a package',
  exactNames: 'The exact name. Python indexes have no search.',
  partsOfNames: 'A name or a part of it.',
  find: 'Find',
  foundPackages: 'Found packages',
  notFound: (reason: string) => `The index could not be asked. ${reason}`,
  noPackage: (name: string) => `The index has no package ${name}.`,
  versionOf: (name: string) => `Version of ${name}`,
  bringsOf: (name: string, version: string) => `What ${name} ${version} brings`,
  findingBrings: 'Finding out which packages it brings…',
  bringsNone: 'It brings no other packages.',
  brings: (n: number) => `It brings ${plural(n, { one: 'other package', other: 'other packages' })}:`,
  notResolved: (reason: string) => `The packages that it brings could not be resolved. ${reason}`,
  add: (name: string) => `Add ${name}`,
  resolving: 'Resolving…',
  exactPackages: 'Exact packages',
  changed: (before: string | undefined, after: string) =>
    before === undefined ? `${after}, new` : `${before} → ${after}`,
};

export const versionsSection = {
  versions: 'Versions',
  theVersions: 'the versions',
  none: 'None',
  versionsNamed: (n: number) => plural(n, { one: 'version', other: 'versions' }),
  notLoaded: (reason: string) => `The versions could not be loaded. ${reason}`,
  aVersionNeverChanges: 'No versions yet. Versions cannot be edited, so other programs can pin them.',
  publishTheFirstVersion: 'Publish the first version…',
  deprecated: (reason = '', successor = '') =>
    `deprecated${reason === '' ? '' : `: ${reason}`}${successor === '' ? '' : `, use ${successor}`}`,
  compareWithTheDraft: (version: string) => `Compare ${version} with the draft`,
  copyReference: (name: string, version: string) => `Copy reference ${name}@${version}`,
  export: (version: string) => `Export ${version}`,
  allAboutItsVersions: 'All versions and saved drafts',
};

export const environment = {
  aNameIsNeeded: 'Enter a name.',
  aNameHasLettersDigits: 'Use letters, digits and _; the first character is not a digit.',
  isReservedByTheSandbox: (name: string) => `${name} is reserved by the sandbox.`,
  isThereTwice: (name: string) => `${name} appears twice.`,
  atMostVariables: (mostNames: number) => `At most ${mostNames} variables.`,
  allNamesAndValuesTogether: 'All names and values together can have up to 32 KiB.',
};

export const limits = {
  title: 'Limits',
  timeout: 'Timeout',
  memory: 'Memory',
  cpuTime: 'CPU time',
  processes: 'Processes',
  output: 'Output',
  disk: 'Disk',
  recursion: 'Recursion',
  named: (label: string) => `the limit “${label}”`,
  namedNow: (label: string, now: string) => `the limit “${label}” (now ${now})`,
  upTo: (ceiling: string) => `up to ${ceiling}`,
  mustBeANumberAbove: 'Must be a number above 0.',
  tooSmall: 'Too small.',
  atMost: (ceiling: string) => `At most ${ceiling}.`,
};

export const runtimes = {
  itIsNotOn: 'It is not available on this server.',
  notHere: (runtime: string) => `${runtime} (not available)`,
  /** Runtimes that send programs to other machines, by their names. */
  elsewhere: (runtime: string) =>
    ({
      remote: 'remote: at the service in remote.json',
      e2b: 'e2b: in a sandbox of E2B',
      bacalhau: 'bacalhau: as a job of Bacalhau',
    })[runtime],
  theRuntimesOwn: 'Default',
  strictAFreshProcess: 'Strict: new process per run',
  removed: (isolation: string) => `${isolation} (removed, runs as Default)`,
};
