import type { ReactNode } from 'react';
import { moment, number, plural } from './format';
import { rich } from './rich';

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export const serverPage = {
  pageTitle: 'Server · Atelier',
  server: 'Server',
  lead: 'The engines that run programs, their load, the isolation of this machine and the limits of a run. The numbers refresh by themselves.',
  aboutEngines:
    'An engine runs the programs of its languages in workers. Idle workers are prepared, so that a run starts at once. Workers started and died are counted since the server started, spares included.',
  workers: 'Workers',
  noWorkers: 'none now',
  busy: 'busy',
  beingPrepared: 'being prepared',
  idle: 'ready',
  workersAre: (busy: number, preparing: number, idle: number) =>
    `${busy} busy, ${preparing} being prepared, ${idle} ready`,
  notLoaded: (reason: string) => `The capabilities could not be loaded. ${reason}`,
  engines: 'Engines',
  theEngines: 'the engines',
  theLimits: 'the limits',
  notAsked: (reason: string) => `The engines could not be loaded. ${reason}`,
  engine: 'Engine',
  state: 'State',
  running: 'Runs now',
  waiting: 'Runs waiting',
  prepared: 'Workers ready',
  started: 'Workers started',
  died: 'Workers died',
  ready: 'Ready',
  notReady: 'Not ready',
  notReadyHere: 'Not ready on this server',
  sandbox: 'Sandbox',
  everyWall: (level: string) => `${capital(level)}: every protection is in place.`,
  lacks: (level: string, names: string) => `${capital(level)}: this machine lacks ${names}.`,
  doctor: (command: ReactNode) =>
    rich`${command} runs hostile programs against every protection and limit of this machine and reports the results.`,
  unavailableLanguages: 'Unavailable languages',
  because: (runtime: string, reason: string) => `${runtime}: ${reason}`,
  time: 'Time',
  cpuTime: 'CPU time',
  memory: 'Memory',
  processes: 'Processes',
  output: 'Output',
  disk: 'Disk',
  recursion: 'Recursion',
  limitsOfARun: 'Limits of a run',
  limit: 'Limit',
  unlessSaid: 'Default',
  atMost: 'Maximum',
};

export const loadPicture = {
  running: 'runs now',
  waiting: 'waiting now',
  started: 'runs started in the last hour',
  atOnce: 'at the busiest moment',
  none: 'No run has started in the last hour. The picture starts again with the server.',
  queue: 'Queue',
  queueEmpty: 'No run waited in the last hour.',
  queueMost: (most: number) => `at most ${number(most)} waited`,
  counts:
    'All workspaces. Schema inference also executes programs: it counts here and in quotas, but not in the list of runs.',
  perMinute: (most: number) => `${number(most)} a minute`,
  minute: ({ at, started, running, waiting }: { at: string; started: number; running: number; waiting: number }) =>
    `${moment(at)}: ${plural(started, { one: 'run', other: 'runs' })} started, at most ${number(running)} at once, ${number(waiting)} waiting`,
  earlier: '1 hour ago',
  now: 'now',
  about: (running: number, waiting: number, started: number, most: number, waited: number) =>
    `${number(running)} running, ${number(waiting)} waiting; ${number(started)} started in the last hour, at most ${number(most)} in a minute; at most ${number(waited)} waited.`,
};
