import { ApiError } from './http';

/** Error messages by field name. */
export type Complaints = Partial<Record<string, string>>;

/** Returns the server's errors about the fields of a form. Returns undefined if an error concerns anything else. */
export function byField(error: unknown, names: readonly string[]): Complaints | undefined {
  const found: Complaints = {};
  for (const { pointer, message } of error instanceof ApiError ? error.fields : []) {
    const name = pointer.slice(1);
    if (!names.includes(name)) return undefined;
    found[name] ??= message;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}
