import { ApiError } from '../../api/http';
import { FieldFaults } from '../../ui/useTask';

/**
 * Returns the server's errors about fields, which are more specific than its summary. The form shows each error at its
 * field. A form that lacks these fields shows the first error.
 */
export function complaint(error: unknown, shown: readonly string[]): unknown {
  const fields = error instanceof ApiError ? error.fields : [];
  const [first] = fields;
  if (first === undefined) return error;
  const at = fields.filter(({ pointer }) => shown.includes(pointer));
  return at.length > 0 ? new FieldFaults(new Map(at.map((f) => [f.pointer, f.message]))) : new Error(first.message);
}
