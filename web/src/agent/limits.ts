// Converts limits between the API's units (milliseconds and bytes) and the units that the Studio shows.
import type { Limits } from '../api/types';
import { limits as say } from '../texts/config';
import { number } from '../texts/format';

export interface Unit {
  name: string;
  /** The number of API units in one display unit. */
  scale: number;
}

export interface LimitField {
  key: keyof Limits;
  label: string;
  /** The display units, smallest first. */
  units: [Unit, ...Unit[]];
}

const seconds: [Unit] = [{ name: 's', scale: 1000 }];
const count: [Unit] = [{ name: '', scale: 1 }];
const size: [Unit, Unit] = [
  { name: 'KiB', scale: 1024 },
  { name: 'MiB', scale: 1024 ** 2 },
];

export const limitFields: LimitField[] = [
  { key: 'timeoutMs', label: say.timeout, units: seconds },
  { key: 'memoryBytes', label: say.memory, units: size },
  { key: 'cpuMs', label: say.cpuTime, units: seconds },
  { key: 'processes', label: say.processes, units: count },
  { key: 'outputBytes', label: say.output, units: size },
  { key: 'diskBytes', label: say.disk, units: size },
  { key: 'recursionDepth', label: say.recursion, units: count },
];

/** Returns the limits of a run. If a limit is 0, the agent uses the server's default. */
export function limitsOf(limits: Limits, defaults: Limits | undefined): Limits {
  const whole = { ...limits };
  for (const { key } of limitFields) whole[key] ||= defaults?.[key] ?? 0;
  return whole;
}

/** Returns the largest unit in which the number is at least one. */
export const unitOf = ({ units }: LimitField, wire: number): Unit =>
  units.findLast(({ scale }) => wire >= scale) ?? units[0];

export const inUnit = ({ scale }: Unit, wire: number): string => String(Number((wire / scale).toFixed(6)));

export function limitText(field: LimitField, wire: number): string {
  const unit = unitOf(field, wire);
  return unit.name === '' ? number(wire) : `${inUnit(unit, wire)} ${unit.name}`;
}

export type ReadLimit = { ok: true; wire: number } | { ok: false; message: string };

/**
 * Parses the typed text of a limit. A unit in the text takes precedence over the selected unit. An empty text means the
 * server's default.
 */
export function readLimit(field: LimitField, unit: Unit, text: string, ceiling: number | undefined): ReadLimit {
  if (text.trim() === '') return { ok: true, wire: 0 };
  const [, digits = '', name = ''] = /^\s*([^a-z]*?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const meant = name === '' ? unit : field.units.find((u) => u.name.toLowerCase() === name.toLowerCase());
  const value = Number(digits.replace(',', '.'));
  if (!meant || digits === '' || !Number.isFinite(value) || value <= 0)
    return { ok: false, message: say.mustBeANumberAbove };
  const wire = Math.round(value * meant.scale);
  if (wire < 1) return { ok: false, message: say.tooSmall };
  if (ceiling !== undefined && wire > ceiling) return { ok: false, message: say.atMost(limitText(field, ceiling)) };
  return { ok: true, wire };
}

/** Replaces the names of limits in a server message by their labels in the Studio. */
export const withLimitsNamed = (sentence: string): string =>
  sentence.replace(/\blimits\.(\w+)(?: \(now (\d+)\))?/g, (whole: string, key: string, now?: string) => {
    const field = limitFields.find((f) => f.key === key);
    if (!field) return whole;
    return now === undefined ? say.named(field.label) : say.namedNow(field.label, limitText(field, Number(now)));
  });
