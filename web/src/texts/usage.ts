import type { ReactNode } from 'react';
import { bytes, form, measured, milliseconds, number } from './format';
import { rich } from './rich';

const months = new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric', timeZone: 'UTC' });

export const usagePage = {
  pageTitle: 'Usage and budgets · Atelier',
  title: 'Usage and budgets',
  lead: 'The use of this workspace in a calendar month (UTC). A run counts when it ends, and stays counted when it is removed.',
  meters: 'Use in a month',
  month: 'Month',
  csv: 'Download CSV',
  theUsage: 'the usage',
  notLoaded: (reason: string) => `The usage could not be loaded. ${reason}`,
  nothing: 'Nothing was used in this month.',
  idle: (names: string) => `Not used in the last twelve months: ${names}.`,
  monthName: (month: string) => months.format(new Date(`${month}-01T00:00:00Z`)),
  cost: (amount: string, currency: string) => `${amount} ${currency}`,
  total: (cost: string, month: string) => `${cost} in ${month}`,
  perUnits: (price: string, per: number, unit: string) =>
    per === 1 ? `at ${price} each` : `at ${price} for ${number(per)} ${unit}`,
  chart: (name: string, now: string, most: string) =>
    `${name}: ${now} in this month, at most ${most} in the last twelve months.`,
  bar: (month: string, amount: string) => `${month}: ${amount}`,
  budgets: 'Budgets',
  aboutBudgets:
    'A budget warns at 50, 80 and 100 percent. When it is used up, it can also refuse new runs at other services, or all runs, until the month ends.',
  theBudgets: 'the budgets',
  budgetsNotLoaded: (reason: string) => `The budgets could not be loaded. ${reason}`,
  noBudgets: 'This workspace has no budgets.',
  noBudgetsAsk: (command: ReactNode) =>
    rich`An administrator can limit runs, CPU time or cost in each month, here or with ${command}.`,
  chooseMeter: (command: ReactNode) => rich`Limit runs, CPU time or cost in each month, here or with ${command}.`,
  perMonth: (meter: string) => `${meter} per month`,
  warnsAt: (percent: number) => `Warns at ${String(percent)} percent`,
  newBudget: 'New budget…',
  change: 'Change…',
  changeNamed: (name: string) => `Change ${name}`,
  remove: 'Remove',
  removeNamed: (name: string) => `Remove ${name}`,
  removeTitle: (name: string) => `Remove the budget ${name}?`,
  removeAbout: 'The use is still counted. Runs that this budget refuses are accepted again.',
  removeVerb: 'Remove budget',
  removed: (name: string) => `The budget ${name} was removed.`,
  usedOf: (used: string, amount: string, percent: number) => `${used} of ${amount} · ${measured(percent, 0)} %`,
  refuses: {
    remote: 'Refuses runs at other services when it is used up.',
    all: 'Refuses all runs when it is used up.',
    none: 'Only warns.',
  },
  refusesNow: {
    remote: (until: string) => `Used up: new runs at other services are refused with 402 until ${until}.`,
    all: (until: string) => `Used up: new runs are refused with 402 until ${until}.`,
    none: (until: string) => `Used up. It only warns, until ${until}.`,
  },
  raise: 'Change the amount to accept them again.',
  askToRaise: 'An administrator can raise the amount.',
};

export const languageModel = {
  title: 'Language model',
  about:
    'The language model helps to write programs, and programs may ask it. While it is off, it gets nothing from this workspace.',
  theModel: 'the language model',
  notLoaded: (reason: string) => `The language model could not be loaded. ${reason}`,
  none: 'No language model is set up for this workspace.',
  off: (model: string) => `${model} is switched off.`,
  on: (model: string, used: number, limit: number) =>
    limit > 0
      ? `${model} is on. ${number(used)} of ${number(limit)} tokens are used this month.`
      : `${model} is on. ${number(used)} tokens are used this month.`,
  switchOn: 'Switch on',
  switchOff: 'Switch off',
  switchedOn: 'The language model is on.',
  switchedOff: 'The language model is off.',
  model: 'Model',
  modelHint: 'Members and programs of this workspace use it.',
  chosen: (model: string, on: boolean) =>
    on ? `The workspace uses ${model}.` : `The workspace uses ${model} once the language model is switched on.`,
};

export const budgetDialog = {
  newBudget: 'New budget',
  change: (name: string) => `Change the budget ${name}`,
  about: 'A budget limits the use of this workspace in each calendar month (UTC). It warns at 50, 80 and 100 percent.',
  create: 'Create budget',
  save: 'Save budget',
  done: (name: string) => `The budget ${name} was saved.`,
  name: 'Name',
  nameHint: 'Lower-case letters, digits, - and _. Refused runs name the budget.',
  nameIsNeeded: 'Enter a name.',
  nameIsTaken: 'A budget has this name. Change that budget, or choose another name.',
  meter: 'Meter',
  meterHints: {
    runs: 'Runs whose program started.',
    cpuSeconds: 'CPU time of programs on this server.',
    gpuMinutes: 'Duration of jobs at other services times their GPUs.',
    remoteSeconds: 'Time that runs take at other services.',
    remoteCost: 'Cost that other services report.',
    tokens: 'Tokens of language models.',
    egressBytes: 'Bytes between programs and the hosts that they may reach.',
    storageBytes: 'The highest measurement of the month.',
    cost: 'The sum of the costs of all meters.',
  },
  amount: (unit: string) => `Amount in ${unit}`,
  amountHint: 'For one calendar month.',
  amountIs: (text: string) => `${text} in one calendar month.`,
  amountIsNeeded: 'Enter an amount above 0.',
  refuse: 'When it is used up',
  refusals: { remote: 'Refuse runs at other services', all: 'Refuse all runs', none: 'Only warn' },
  refuseHints: {
    remote: 'Runs on this server continue. Budgets of tokens and of cost also refuse requests to the language model.',
    all: 'Requests to the language model are refused too.',
    none: 'The Studio, the log and the webhook warn.',
  },
  faults: {
    '/name': (why: string) => why,
    '/meter': (why: string) => `The meter ${why}`,
    '/amount': (why: string) => `The amount ${why}`,
    '/refuse': (why: string) => `This ${why}`,
  } as Record<string, ((why: string) => string) | undefined>,
};

export const budgetNotice = {
  some: (name: string, percent: number) => `Budget ${name}: ${measured(percent, 0)} % used`,
  more: (n: number) => form(n, { one: 'and 1 more', other: `and ${n} more` }),
};

/** The meters that a budget can limit. */
export const meters = [
  'gpuMinutes',
  'remoteSeconds',
  'remoteCost',
  'cpuSeconds',
  'runs',
  'tokens',
  'egressBytes',
  'storageBytes',
  'cost',
] as const;

const names: Record<string, string> = {
  runs: 'Runs',
  cpuSeconds: 'CPU time',
  gpuMinutes: 'GPU time',
  remoteSeconds: 'Remote time',
  remoteCost: 'Cost of remote services',
  tokens: 'Tokens',
  egressBytes: 'Network traffic',
  storageBytes: 'Storage, highest',
  cost: 'Cost',
};

export const meterName = (meter: string): string => names[meter] ?? meter;

/** The unit in which the amount of a budget is entered. */
export function unitOf(meter: string, currency: string): string {
  switch (meter) {
    case 'cpuSeconds':
    case 'remoteSeconds':
      return 'seconds';
    case 'gpuMinutes':
      return 'minutes';
    case 'remoteCost':
    case 'cost':
      return currency;
    case 'egressBytes':
    case 'storageBytes':
      return 'bytes';
    default:
      return meter;
  }
}

/** Formats an amount with its unit. */
export function amountOf(meter: string, amount: number, currency: string): string {
  switch (meter) {
    case 'cpuSeconds':
    case 'remoteSeconds':
      return amount === 0 ? '0 s' : milliseconds(amount * 1000);
    case 'gpuMinutes':
      return `${measured(amount, amount > 0 && amount < 10 ? 2 : 0)} min`;
    case 'remoteCost':
    case 'cost':
      return `${measured(amount, 2)} ${currency}`;
    case 'egressBytes':
    case 'storageBytes':
      return bytes(amount);
    default:
      return number(amount);
  }
}
