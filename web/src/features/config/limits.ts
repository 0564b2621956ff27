// The limits as people set them: each with its unit, and numbers on the wire in milliseconds and bytes.
import type { Limits } from '../../api/types';

export interface LimitField {
  key: keyof Limits;
  label: string;
  unit: string;
  /** How much of the wire's unit one of ours is. */
  scale: number;
}

const kib = 1024;
const mib = 1024 * 1024;

export const limitFields: LimitField[] = [
  { key: 'timeoutMs', label: 'Timeout', unit: 's', scale: 1000 },
  { key: 'memoryBytes', label: 'Memory', unit: 'MiB', scale: mib },
  { key: 'cpuMs', label: 'CPU time', unit: 's', scale: 1000 },
  { key: 'processes', label: 'Processes', unit: '', scale: 1 },
  { key: 'outputBytes', label: 'Output', unit: 'KiB', scale: kib },
  { key: 'diskBytes', label: 'Disk', unit: 'MiB', scale: mib },
  { key: 'recursionDepth', label: 'Recursion', unit: '', scale: 1 },
];

export const inUnit = (field: LimitField, wire: number): string => String(Number((wire / field.scale).toFixed(3)));

const withUnit = (field: LimitField, wire: number): string =>
  `${inUnit(field, wire)}${field.unit === '' ? '' : ` ${field.unit}`}`;

export const ceilingText = (field: LimitField, ceiling: number): string => `up to ${withUnit(field, ceiling)}`;

export type ReadLimit = { ok: true; wire: number } | { ok: false; message: string };

export function readLimit(field: LimitField, text: string, ceiling: number | undefined): ReadLimit {
  const value = Number(text.trim().replace(',', '.'));
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    return { ok: false, message: 'Must be a number above 0.' };
  const wire = Math.round(value * field.scale);
  if (wire < 1) return { ok: false, message: 'Too small.' };
  if (ceiling !== undefined && wire > ceiling) return { ok: false, message: `At most ${withUnit(field, ceiling)}.` };
  return { ok: true, wire };
}
