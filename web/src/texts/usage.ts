import { bytes, form, measured, milliseconds, number } from './format';

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
  cost: (amount: string, currency: string) => `${amount} ${currency}`,
  total: (cost: string, month: string) => `${cost} in ${month}`,
  perUnits: (price: string, per: number, unit: string) =>
    per === 1 ? `at ${price} each` : `at ${price} for ${number(per)} ${unit}`,
  chart: (name: string, now: string, most: string) =>
    `${name}: ${now} in this month, at most ${most} in the last twelve months.`,
  bar: (month: string, amount: string) => `${month}: ${amount}`,
  budgets: 'Budgets',
  aboutBudgets:
    'A budget warns at 50, 80 and 100 percent. When it is used up, it refuses new runs at other services, or all runs, until the month ends.',
  theBudgets: 'the budgets',
  budgetsNotLoaded: (reason: string) => `The budgets could not be loaded. ${reason}`,
  noBudgets: 'This workspace has no budgets. An administrator sets one with',
  raiseWith: (name: string, meter: string, refuse: string) =>
    `atelier budget set ${name} --meter ${meter} --refuse ${refuse} --amount …`,
  usedOf: (used: string, amount: string, percent: number) => `${used} of ${amount} · ${measured(percent, 0)} %`,
  refuses: {
    remote: 'Refuses runs at other services when it is used up.',
    all: 'Refuses all runs when it is used up.',
    none: 'Only warns.',
  },
  refusesNow: {
    remote: (until: string) =>
      `Used up: new runs at other services are refused with 402 until ${until}. An administrator can raise it with`,
    all: (until: string) => `Used up: new runs are refused with 402 until ${until}. An administrator can raise it with`,
    none: (until: string) => `Used up. It only warns, until ${until}.`,
  },
};

export const budgetNotice = {
  some: (name: string, percent: number) => `Budget ${name}: ${measured(percent, 0)} % used`,
  more: (n: number) => form(n, { one: 'and 1 more', other: `and ${n} more` }),
};

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

/** An amount with its unit. */
export function amountOf(meter: string, amount: number, currency: string): string {
  switch (meter) {
    case 'cpuSeconds':
    case 'remoteSeconds':
      return milliseconds(amount * 1000);
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
