import type { ReactNode } from 'react';
import { bytes, form, milliseconds, number, plural, seconds, sentence } from './format';
import { rich } from './rich';

export const budgetUsedUp = {
  about: (name: string, used: string, amount: string, until: string) =>
    `The program was not started: the budget ${name} of this workspace is used up, ${used} of ${amount}. It starts again at 0 on ${until}.`,
  raise: 'You can raise it.',
  askToRaise: 'An administrator can raise it.',
  open: 'Usage and budgets',
};

export const compareRuns = {
  title: 'Compare two runs',
  notLoaded: (reason: string) => `The runs could not be loaded. ${reason}`,
  theRuns: 'the runs',
  what: 'Field',
  sides: { before: 'Earlier', after: 'Later' },
  input: 'Input',
  output: 'Output',
  printed: 'Printed',
  state: 'State',
  version: 'Version',
  code: 'Code',
  runtime: 'Runtime',
  total: 'Total',
  cpu: 'CPU',
  peakMemory: 'Peak memory',
  theSame: 'No difference.',
};

export const controller = {
  tryAgainIn: (reason: string, retryAfter: number) => `${reason} Try again in ${retryAfter} s.`,
  notStopped: (reason: string) => `The run could not be stopped. ${reason}`,
};

export const deniedHost = {
  allow: (hosts: string) => `Allow ${hosts}`,
  notSaved: (problems: string) => `Not saved: ${problems}`,
  granted: (hosts: ReactNode) => rich`capabilities.hosts ${hosts}`,
  draftMayReachItNow: 'The draft can reach it now.',
  draftMayReachIt: 'The draft can reach it.',
  versionMayNot: (version: string) => `${version} cannot: a new capability makes the next version a major one.`,
  runAgain: 'Run again',
  showWhatChanged: 'Show the change',
};

export const errorCard = {
  error: 'Error',
  rule: (rule: ReactNode) => rich`Rule ${rule}`,
  raiseLimit: 'Raise limit',
  refusedValues: 'Refused values',
  stack: 'Stack',
};

export const history = {
  bars: (runs: number, failed: number, medianMs: number) =>
    `${plural(runs, { one: 'run', other: 'runs' })}, ${failed} failed, ${runs > 1 ? 'median ' : ''}${milliseconds(medianMs)}`,
  durations: (runs: number) => (runs === 1 ? 'Duration of 1 run.' : `Durations of ${number(runs)} runs, newest right.`),
  longest: (ms: number) => `Longest: ${milliseconds(ms)}`,
  notSucceeded: 'not succeeded',
};

export const historyTab = {
  inputNotFetched: (reason: string) => `The input could not be fetched. ${reason}`,
  theRuns: 'the runs',
  notLoaded: (reason: string) => `The runs could not be loaded. ${reason}`,
  noRunsYet: 'No runs yet. Run the program to see its duration.',
  whichRuns: 'Status',
  allRuns: 'All runs',
  succeeded: 'Succeeded',
  failed: 'Failed',
  ofWhichVersion: 'Version filter',
  allVersions: 'All versions',
  compareTwo: 'Compare two',
  none: 'No run matches these filters.',
  input: 'Input',
  by: 'By',
  toCompare: 'To compare',
  state: 'State',
  version: 'Version',
  time: 'Time',
  when: 'When',
  actions: 'Actions',
  actionsOf: (when: string) => `Actions for the run of ${when}`,
  runIsActive: 'A run is active.',
  compareTheRun: (when: string, totalMs: number) => `Compare the run of ${when}, ${milliseconds(totalMs)}`,
  show: (state: string, when: string) => `${state}: show the run of ${when}`,
  rerun: 'Re-run with this input',
  useInput: 'Use this input',
  inputReplaced: 'The input was replaced by that of the run.',
  undo: 'Undo',
};

export const testsTab = {
  keep: 'Keep as test',
  generate: 'Generate tests',
  add: 'Add test',
  addTitle: 'Add a test',
  edit: (name: string) => `Edit ${name}`.trim(),
  editTitle: 'Edit the test',
  editAbout: 'The program must give the expected answer to this input. Versions get the tests of their draft.',
  input: 'Input as JSON',
  expect: 'Expectation',
  expectations: { output: 'Output', schema: 'Any fitting output', matches: 'JSON Schema', errorType: 'Error' },
  expectedOutput: 'Expected output as JSON',
  expectedSchema: 'JSON Schema of the output',
  expectedError: 'Type of the error',
  expectedErrorHint:
    'Such as runtime_error. With invalid_input, the input schema must refuse the input before the program runs.',
  schemaHint: 'The program must succeed, so its output fits the output schema.',
  tags: 'Tags',
  tagsHint: 'Words with commas between.',
  notJson: 'This is not valid JSON.',
  notAnObject: 'This must be a JSON object.',
  gone: 'Another person removed this test. It will be added again.',
  generateAbout:
    'Inputs made from the input schema. A valid one must give an output that fits, an invalid one must be refused.',
  generating: 'the generated tests',
  notGenerated: (reason: string) => `The tests could not be generated. ${reason}`,
  again: 'Generate others',
  keepChosen: (n: number) => `Keep ${plural(n, { one: 'test', other: 'tests' })}`,
  found: (failed: number, all: number) =>
    `${failed} of ${plural(all, { one: 'generated test', other: 'generated tests' })} failed`,
  kinds: { valid: 'valid', edge: 'edge', invalid: 'invalid' },
  keepTitle: 'Keep as a test',
  keepAbout: 'The program must give this answer to this input again. Versions get the tests of their draft.',
  save: 'Keep test',
  name: 'Name',
  nameOf: (n: number) => `Case ${n}`,
  taken: 'Another test has this name.',
  ignore: 'Ignored parts of the output',
  ignoreHint: 'One JSON pointer per line, such as /items/*/id. These parts may differ.',
  kept: (name: string) => `The test "${name}" was kept.`,
  notKept: (reason: string) => `The test was not kept. ${reason}`,
  show: 'Show tests',
  none: 'No tests yet. Run the program and keep its result as a test.',
  runAll: 'Run all',
  run: (name: string) => `Run ${name}`.trim(),
  running: 'Running…',
  passedOf: (passed: number, all: number) => `${passed} of ${plural(all, { one: 'test', other: 'tests' })} passed`,
  noneRan: (all: number) => `${plural(all, { one: 'test', other: 'tests' })}, not run yet`,
  theInput: 'Input',
  fails: (type: string) => `error ${type}`,
  matches: (schema: string) => `fits ${schema}`,
  fits: 'fits the output schema',
  passed: 'Passed',
  failed: 'Failed',
  notRun: 'Not run',
  test: 'Test',
  state: 'State',
  time: 'Time',
  actions: 'Actions',
  differences: (name: string) => `Differences of ${name}`,
  at: 'Place',
  expected: 'Expected',
  actual: 'Actual',
  update: 'Update expected',
  remove: (name: string) => `Remove ${name}`.trim(),
  removed: (name: string) => `The test "${name}" was removed.`,
  undo: 'Undo',
  notSaved: 'The draft is not saved yet.',
};

export const inputTab = {
  inputAs: 'Input as',
  form: 'Form',
  json: 'JSON',
  reset: 'Reset to defaults',
  inputAsJson: 'Input as JSON',
  jsonProblems: 'Errors in the JSON',
  line: (line: number) => `Line ${number(line)}`,
  doesNotFit: 'The input does not fit the schema:',
  input: 'Input',
  andMore: (n: number) => `and ${n} more`,
  notInSchema: 'The input also has properties that are not in the schema. They are sent to the program:',
  removeKey: (key: string) => `Remove ${key}`,
};

export const jsonTree = {
  items: (n: number) => plural(n, { one: 'item', other: 'items' }),
  keys: (n: number) => plural(n, { one: 'key', other: 'keys' }),
  showMore: (n: number, rest: number) => `Show ${n} more of ${rest}`,
  copied: (path: string) => `Copied ${path}`,
  copyPath: (path: string) => `Copy the path ${path}`,
  path: 'path',
};

export const missingSecrets = {
  haveNoValue: (names: string[]) =>
    `The program was not started: it declares ${names.join(', ')}, which ${form(names.length, { one: 'has', other: 'have' })} no value in this workspace.`,
  mayNotSet: 'Ask someone who can edit agents here to set it under Secrets.',
  areSet: 'Its secrets have values now.',
  set: (name: string) => `Set ${name}…`,
};

export const output = {
  outputValue: 'Output value',
  output: 'Output',
  outputAs: 'Output as',
  looks: { view: 'View', tree: 'Tree', table: 'Table', text: 'Text', markdown: 'Markdown', image: 'Image' },
  csv: 'CSV',
  csvName: (path: string) => `${path.replace(/[^\w-]+/g, '') || 'rows'}.csv`,
  copyAsJson: 'Copy the output as JSON',
  download: 'Download the output',
  pictureAt: (path: string) => `The picture at ${path}`,
  rowsOf: (path: string) => `Rows of ${path}`,
  firstRowsOf: (path: string, shown: number, total: number) =>
    `${path}, the first ${number(shown)} of ${number(total)} rows`,
  fit: {
    passed: 'fits the output schema',
    failed: 'does not fit the output schema',
    passedThen: 'fitted the output schema when it ran',
    failedThen: 'did not fit the output schema when it ran',
  },
};

/** Problems of the views that a schema requests with x-view. */
export const views = {
  unknown: 'x-view is markdown, text, table or a chart.',
  unknownChart: (kinds: string) => `A chart is one of ${kinds}.`,
  needsText: (view: string) => `The view ${view} needs a text.`,
  needsRows: (view: string) => `The view ${view} needs a list of flat objects.`,
  needsAxes: 'A chart needs x, the name of a column, and y, one or more names.',
  noColumn: (name: string) => `The chart needs a column ${name}, which the rows do not have.`,
  noNumbers: (name: string) => `The chart needs numbers in the column ${name}.`,
  tooMany: (most: number) => `A chart has at most ${number(most)} points. Return fewer rows.`,
  chartOf: (path: string, kind: string, names: string[], x: string, points: number) =>
    `${kind} chart of ${path}: ${names.join(', ')} by ${x}, ${plural(points, { one: 'point', other: 'points' })}. The table shows the values.`,
};

export const provenance = {
  provenance: 'Provenance',
  run: 'Run',
  version: 'Version',
  runtime: 'Runtime',
  isolation: 'Isolation',
  code: 'Code',
  digest: 'Digest',
  input: 'Input',
  output: 'Output',
  copyRun: 'Copy run',
  copyCode: 'Copy code',
  copyDigest: 'Copy digest',
  copyInput: 'Copy input',
  copyOutput: 'Copy output',
  copyAsJson: 'Copy as JSON',
  verify: 'Verify',
  verification: 'Verification',
  doesNotMatch: 'Does not match the record.',
  someMatches: 'All checkable parts match.',
  allMatches: 'Verified: everything matches the record.',
  finding: (part: string, why: string) => `${part}: ${why}`,
  marks: { same: 'Matches', differs: 'Does not match', unknown: 'Not checked' },
};

export const startButton = {
  run: 'Run',
};

export const resultTab = {
  whenItEnds: 'The result is shown here when the program ends.',
  noResultYet: 'No result yet. Run the program to see its output.',
};

export const runFacts = {
  time: 'Time',
  queue: 'Queue',
  start: 'Start',
  run: 'Run',
  other: 'Checks and storing',
  otherAbout: 'Before and after the program: checks of the input and the output, and storing the run.',
  total: 'Total',
  cpu: 'CPU',
  peakMemory: 'Peak memory',
  ofLimit: (peak: number, limit: number) => `${bytes(peak)} of ${bytes(limit)}`,
  exitCode: 'Exit code',
  place: 'Where it ran',
  ranIn: (runtime: ReactNode, why: string) => rich`In the runtime ${runtime}. ${why}`,
  ruleOfRouter: (rule: ReactNode) => rich`Rule of the router: ${rule}`,
  named: 'The program names this runtime.',
  noEarlierRule: 'No earlier rule applies.', // the beginning of the server's reason
  ranHere: (runtime: ReactNode, why: string) => rich`On this server, in the runtime ${runtime}. ${why}`,
};

export const runPanel = {
  panels: { input: 'Input', console: 'Console', result: 'Result', history: 'History', tests: 'Tests' },
  run: 'Run',
  newOutput: 'New output',
  notValid: 'Not valid',
  deprecated: 'Deprecated',
  isDeprecated: 'This version is deprecated.',
  isDeprecatedFor: (reason: string) => `This version is deprecated: ${sentence(reason)}`,
  use: (successor: ReactNode) => rich`Use ${successor}.`,
  reconnecting: 'Reconnecting',
  runState: 'Run state',
  progress: 'Progress',
  restore: (keys: string) => `Restore (${keys})`,
  maximise: (keys: string) => `Maximise (${keys})`,
};

export const savedInputs = {
  noRoom: (most: number) => `The saved inputs of an agent have at most ${bytes(most)} together. Delete one first.`,
  readOnly: 'Inputs are saved with the draft.',
  saveThisInput: 'Save this input…',
  notJsonYet: 'It is not valid JSON yet.',
  forget: (name: string) => `Delete “${name}”`,
  savedInputs: (n: number) => (n === 0 ? 'Saved inputs' : `Saved inputs (${n})`),
  title: 'Save this input',
  about: 'Saved with the agent: everybody who opens it has it.',
  replace: 'Replace',
  save: 'Save',
  name: 'Name',
  isReplaced: 'This replaces the input of the same name.',
};

export const useRun = {
  isNotHere: 'This run is not here: it was removed, or belongs to another agent or workspace.',
};

export const unsaved = {
  other: 'The draft could not be saved.',
  offline: 'The server cannot be reached, so the draft could not be saved and run.',
  conflict: 'Someone else changed this draft. Choose which one to keep, then run.',
  refused: 'The server refused this draft. Fix the errors in the configuration, then run.',
};

export const words = {
  finals: {
    succeeded: 'Succeeded',
    failed: 'Failed',
    timed_out: 'Timed out',
    cancelled: 'Cancelled',
    blocked: 'Blocked',
    interrupted: 'Interrupted',
    queued: 'Queued',
    running: 'Running',
    awaiting_approval: 'Waiting for approval',
  },
  causes: {
    memory_limit: 'Out of memory',
    output_limit: 'Stopped at the output limit',
    process_limit: 'Stopped at the process limit',
    disk_limit: 'Stopped at the disk limit',
    recursion_limit: 'Stopped at the recursion limit',
    syntax_error: 'Syntax error',
    invalid_input: 'Invalid input',
    invalid_output: 'Invalid output',
    denied: 'Network denied',
  },
  starting: 'Starting',
  notStarted: 'Not started',
  queued: 'Queued',
  queuedAt: (position: number) => `Queued, position ${position}`,
  running: (elapsedMs: number) => `Running ${seconds(elapsedMs)}`,
  endedIn: (word: string, totalMs: number) => `${word} · ${milliseconds(totalMs)}`,
};
