import { bytes, number, plural } from './format';

const newLines = (n: number): string => plural(n, { one: 'new line', other: 'new lines' });

export const output = {
  waitingForOutput: 'Waiting for output.',
  whatIsShownHere: 'The output and logs of the program appear here.',
  programOutput: 'Program output',
  follow: (n: number) => `${newLines(n)} ↓`,
  console: 'Console',
  said: (n: number, last: string) => `${newLines(n)}, last: ${last}`,
};

export const consoleRow = {
  progress: 'progress',
  more: (characters: number) => ` … ${number(characters)} more`,
};

export const consoleTools = {
  filters: { all: 'All output', stdout: 'stdout', stderr: 'stderr', log: 'Log' },
  searchTheOutput: 'Search the output',
  search: 'Search',
  previousMatch: 'Previous match',
  nextMatch: 'Next match',
  noMatch: 'No match',
  matches: (at: number, of: number) => `${at} of ${number(of)}`,
  show: 'Show',
  showTimes: 'Show the time of each line',
  wrapLongLines: 'Wrap long lines',
  copyTheOutput: 'Copy the output',
  downloadTheOutput: 'Download the output',
  clearTheConsole: 'Clear the console',
};

/** The requested host; '' if the request contains no host. */
const asked = (host: string): string => (host === '' ? 'A request without a host' : host);

export const ring = {
  notKept: (over: number) => `${bytes(over)} of output exceeded the limit and was dropped.`,
  progress: (done: number, total: number) => `${done} of ${total}`,
  denied: (host: string, rule: string) => `${asked(host)} denied by ${rule}.`,
  couldNotBeReached: (host: string) => `${asked(host)} could not be reached.`,
  calls: (reference: string) => `→ ${reference} …`,
  answered: (reference: string, ms: number) => `← ${reference} · ${Math.round(ms)} ms`,
  callFailed: (reference: string, error: string) => `← ${reference} failed: ${error}`,
  reached: (host: string, moved: number, ms: number) => `→ ${asked(host)} · ${bytes(moved)} · ${Math.round(ms)} ms`,
};
