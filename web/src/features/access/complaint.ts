import { ApiError } from '../../api/http';
import { FieldFaults } from '../../ui/useTask';

/**
 * Returns the server's field errors, which say more than its summary. The form shows them at its fields; a form
 * without these fields shows the first.
 */
export function complaint(error: unknown, shown: readonly string[]): unknown {
  const fields = error instanceof ApiError ? error.fields : [];
  const [first] = fields;
  if (first === undefined) return error;
  const at = fields.filter(({ pointer }) => shown.includes(pointer));
  return at.length > 0 ? new FieldFaults(new Map(at.map((f) => [f.pointer, f.message]))) : new Error(first.message);
}
