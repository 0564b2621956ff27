import type { ReactNode } from 'react';
import { day, form, milliseconds, moment, number, plural, timeOfDay } from './format';
import { rich } from './rich';

export const runPage = {
  emptyTitle: 'Run · Atelier',
  pageTitle: (title: string, state: string) => `${title} · ${state} · Atelier`,
  allRuns: 'All runs',
  notOpened: (reason: string) => `The run could not be opened. ${reason}`,
  theRun: 'the run',
  run: 'Run',
  runOf: (agent: string) => `Run of ${agent}`,
  inlineRun: (language: string) => `Run of inline ${language}`,
  runState: 'Run state',
  input: 'Input',
  copyInputAsJson: 'Copy the input as JSON',
  withheld: 'Not stored: the program has the flag “personal data”. Only digests of input and output are kept.',
  console: 'Console',
  printedNothing: 'The program printed nothing.',
  error: 'Error',
  draft: (revision: number) => (revision > 0 ? `draft, revision ${revision}` : 'draft'),
  started: 'Started',
  by: 'By',
  source: 'Source',
  program: 'Program',
  facts: 'About this run',
  openLine: (file: string, line: number) => `Open ${file}:${line}`,
  stack: 'Stack',
};

export const runActions = {
  withheld: 'The input was not stored, because the program has the flag “personal data”.',
  again: 'Run again',
  withChanges: 'Run with changes…',
  compareWithPrevious: 'Compare with previous',
  noEarlierRun: 'There is no earlier run of this agent to compare with.',
  failed: (reason: string) => `That did not work. ${reason}`,
  copyAs: 'Copy as',
  copied: 'Copied',
  link: 'Link to this run',
  curl: 'curl command',
  cli: 'atelier command',
  input: 'Input as JSON',
  id: 'Run ID',
};

export const latencyChart = {
  runs: 'Runs shown',
  failed: 'Failed',
  median: 'Median duration',
  p95: '95 % within',
  /** A power of ten on the scale. */
  tick: (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`),
  /** Formats the time at an end of the axis. It includes seconds if the runs cover a short time. */
  time: (from: string, to: string, at: string) =>
    Date.parse(to) - Date.parse(from) < 3_600_000 ? `${day(moment(at))} ${timeOfDay(at)}` : moment(at),
  about: (runs: number, failed: number, medianMs: number, p95Ms: number) =>
    `Duration of ${plural(runs, { one: 'run', other: 'runs' })} over time: ${failed} ${form(failed, { other: 'failed' })}, median ${milliseconds(medianMs)}, 95 % take at most ${milliseconds(p95Ms)}. The table below lists them.`,
  point: (state: string, ms: number, when: string) => `${state} · ${milliseconds(ms)} · ${when}`,
};

export const calls = {
  title: 'Called agents',
  parent: 'The run that called this one',
  child: (agent: string, version: string) => `${agent}@${version}`,
};

export const runViews = {
  views: (current: string | undefined) => (current === undefined ? 'Views' : `View: ${current}`),
  failedToday: 'Failed in 24 hours',
  timedOutThisWeek: 'Timed out in 7 days',
  now: 'Running now',
  saveThisView: 'Save this view…',
  nothingToSave: 'Choose a filter first.',
  full: (most: number) => `At most ${String(most)} views. Delete one first.`,
  deleteView: (name: string) => `Delete “${name}”`,
  title: 'Save this view',
  about: 'A view is a name for the chosen filters. It is stored in this browser.',
  name: 'Name',
  save: 'Save',
  replace: 'Replace',
  isReplaced: 'This replaces the view of the same name.',
};

export const runsPage = {
  pageTitle: 'Runs · Atelier',
  runs: 'Runs',
  lead: 'All runs of this workspace, started by people, programs or tools. The list follows new runs by itself.',
  state: 'State',
  any: 'Any state',
  since: 'Since',
  ever: 'Any time',
  ranges: { '1h': 'The last hour', '24h': 'The last day', '7d': 'The last week', '30d': 'The last 30 days' },
  theRuns: 'the runs',
  none: 'No run matches these filters.',
  showAll: 'Show all',
  noneYet: 'No runs yet.',
  runOne:
    'Open an agent or a sample, and press Run. Every run is kept here with its input, result, duration and errors.',
  callOne: (command: ReactNode) => rich`Publish a version. Programs call it over HTTP, or with ${command}.`,
  connectOne:
    'Models can call the version too: “Connect a client” in the menu of the agent offers it as a tool over MCP.',
  openAgents: 'Open agents and samples',
  agent: 'Agent',
  anyAgent: 'Any agent',
  input: 'Input',
  largeInput: 'large input',
  draft: 'draft',
  by: 'By',
  sources: {
    studio: 'Studio',
    api: 'API',
    cli: 'Command line',
    mcp: 'MCP',
    skill: 'Skills API',
    kafka: 'Kafka',
    task: 'Task',
    workflow: 'Workflow',
    tool: 'Tool call',
  } as Partial<Record<string, string>>,
  time: 'Duration',
  when: 'When',
  open: 'Open',
  toCompare: 'To compare',
  compareTheRun: (when: string, totalMs: number) => `Compare the run of ${when}, ${milliseconds(totalMs)}`,
  compareTwo: 'Compare two',
  chosen: (n: number) => ['Choose two runs to compare them.', 'Choose one more run.'][n] ?? '',
  sortsLoaded: (n: number) => `The order is of the ${number(n)} runs shown. Show more to include older ones.`,
  inline: (language: string) => `inline ${language}`,
  openTheRun: (when: string) => `Open the run of ${when}`,
};
