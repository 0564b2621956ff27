// Contains the form for the quotas of a workspace. An empty field means the server's default, and 0 means no limit.
import type { OwnQuota } from '../../api/types';
import { quotaForm as say } from '../../texts/workspaces';

export type QuotaName = keyof Required<OwnQuota>;
export type QuotaForm = Record<QuotaName, string>;

export const quotaNames: readonly QuotaName[] = ['concurrentRuns', 'runsPerDay', 'cpuSecondsPerDay', 'storageBytes'];

const units: readonly (readonly [string, number])[] = [
  ['TiB', 1024 ** 4],
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['B', 1],
];

/** Formats a number of bytes in the largest unit in which it is a whole number. */
function spellBytes(n: number): string {
  if (n === 0) return '0';
  const [unit, size] = units.find(([, size]) => n % size === 0) ?? ['B', 1];
  return `${n / size} ${unit}`;
}

function readBytes(text: string): number | undefined {
  const [, digits, unit = 'B'] = /^(\d+(?:\.\d+)?)\s*([KMGT]?i?B)?$/i.exec(text) ?? [];
  const size = units.find(([name]) => name.toLowerCase() === unit.toLowerCase())?.[1];
  return digits === undefined || size === undefined ? undefined : Number(digits) * size;
}

const readCount = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);

/** Returns the limits that the workspace sets, as texts for the form. */
export function formOf(own: OwnQuota): QuotaForm {
  const text = (name: QuotaName): string => {
    const value = own[name];
    if (value === undefined) return '';
    return name === 'storageBytes' ? spellBytes(value) : String(value);
  };
  return {
    concurrentRuns: text('concurrentRuns'),
    runsPerDay: text('runsPerDay'),
    cpuSecondsPerDay: text('cpuSecondsPerDay'),
    storageBytes: text('storageBytes'),
  };
}

/** Parses the form. It returns the quotas, or the errors of the fields. The server checks the values again. */
export function readForm(form: QuotaForm): { own: OwnQuota; faults: Partial<QuotaForm> } {
  const own: OwnQuota = {};
  const faults: Partial<QuotaForm> = {};
  for (const name of quotaNames) {
    const text = form[name].trim();
    if (text === '') continue;
    const storage = name === 'storageBytes';
    const value = storage ? readBytes(text) : readCount(text);
    if (value !== undefined && Number.isSafeInteger(value)) own[name] = value;
    else faults[name] = storage ? say.notBytes : say.notACount;
  }
  return { own, faults };
}
