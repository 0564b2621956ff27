// Writes the canonical JSON text (RFC 8785) from which the server computes digests. Keys are sorted by UTF-16 units,
// and doubles are written as in ECMAScript. As on the server, integer literals keep their digits.
import { isObject, rawNumber, type Json } from '../api/json';

export function canonical(value: Json): string {
  const digits = rawNumber(value);
  if (digits !== undefined) return canonicalNumber(digits);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

function canonicalNumber(literal: string): string {
  if (/^-?\d+$/.test(literal)) return literal === '-0' ? '0' : literal;
  return JSON.stringify(Number(literal));
}
