// The limits as people set them: each with its unit, and numbers on the wire in milliseconds and bytes.
import type { Limits } from '../../api/types';
import { limits as say } from '../../texts/config';

export interface LimitField {
  key: keyof Limits;
  label: string;
  unit: string;
  /** How much of the wire's unit one of ours is. */
  scale: number;
}

const mib = 1024 * 1024;

export const limitFields: LimitField[] = [
  { key: 'timeoutMs', label: say.timeout, unit: 's', scale: 1000 },
  { key: 'memoryBytes', label: say.memory, unit: 'MiB', scale: mib },
  { key: 'cpuMs', label: say.cpuTime, unit: 's', scale: 1000 },
  { key: 'processes', label: say.processes, unit: '', scale: 1 },
  { key: 'outputBytes', label: say.output, unit: 'MiB', scale: mib },
  { key: 'diskBytes', label: say.disk, unit: 'MiB', scale: mib },
  { key: 'recursionDepth', label: say.recursion, unit: '', scale: 1 },
];

export const inUnit = (field: LimitField, wire: number): string => String(Number((wire / field.scale).toFixed(6)));

const withUnit = (field: LimitField, wire: number): string =>
  `${inUnit(field, wire)}${field.unit === '' ? '' : ` ${field.unit}`}`;

export const ceilingText = (field: LimitField, ceiling: number): string => say.upTo(withUnit(field, ceiling));

export type ReadLimit = { ok: true; wire: number } | { ok: false; message: string };

export function readLimit(field: LimitField, text: string, ceiling: number | undefined): ReadLimit {
  const value = Number(text.trim().replace(',', '.'));
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    return { ok: false, message: say.mustBeANumberAbove };
  const wire = Math.round(value * field.scale);
  if (wire < 1) return { ok: false, message: say.tooSmall };
  if (ceiling !== undefined && wire > ceiling) return { ok: false, message: say.atMost(withUnit(field, ceiling)) };
  return { ok: true, wire };
}
