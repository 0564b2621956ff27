import { ApiError } from './http';

/** What is wrong, by the name of the field. */
export type Complaints = Partial<Record<string, string>>;

/** The server's complaints about fields of a form; undefined where it complains of anything else. */
export function byField(error: unknown, names: readonly string[]): Complaints | undefined {
  const found: Complaints = {};
  for (const { pointer, message } of error instanceof ApiError ? error.fields : []) {
    const name = pointer.slice(1);
    if (!names.includes(name)) return undefined;
    found[name] ??= message;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}
