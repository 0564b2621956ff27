// Reads and writes JSON without losing digits. A number that a double cannot represent exactly stays text. In browsers
// without JSON.rawJSON, all numbers become doubles.

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

interface SourceJson {
  rawJSON?: (text: string) => JsonObject;
  isRawJSON?: (value: unknown) => boolean;
}
interface SourceContext {
  source?: string;
}

const source: SourceJson = JSON as SourceJson;

/** Whether this browser can keep the digits of large numbers. */
export const keepsDigits = source.rawJSON !== undefined;

export function parseJson(text: string): Json {
  const reviver = (_key: string, value: Json, context?: SourceContext): Json => {
    if (typeof value !== 'number' || context?.source === undefined || source.rawJSON === undefined) return value;
    return String(value) === context.source ? value : source.rawJSON(context.source);
  };
  return JSON.parse(text, reviver) as Json;
}

export function stringifyJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent);
}

/** Returns the digits of a number that is stored as text, or undefined for other values. */
export function rawNumber(value: Json | undefined): string | undefined {
  if (source.isRawJSON?.(value) !== true) return undefined;
  return JSON.stringify(value);
}

/** Parses a number that the user typed. Returns undefined if the text is not a number. */
export function parseNumber(text: string): Json | undefined {
  try {
    const value = parseJson(text.trim());
    return typeof value === 'number' || rawNumber(value) !== undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && source.isRawJSON?.(value) !== true;
}

/** Converts numbers stored as text to doubles, for code that only compares and measures. */
export function plain(value: Json): Json {
  const raw = rawNumber(value);
  if (raw !== undefined) return Number(raw);
  if (Array.isArray(value)) return value.map(plain);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]));
  return value;
}
