import { ApiError } from '../../api/http';
import { FieldFaults } from '../../ui/useTask';

/**
 * What the server says of the fields that are wrong, where it says so: that is more than its sentence for all. The form says
 * it at each of those that it shows; where it shows none, of the first.
 */
export function complaint(error: unknown, shown: readonly string[]): unknown {
  const fields = error instanceof ApiError ? error.fields : [];
  const [first] = fields;
  if (first === undefined) return error;
  const at = fields.filter(({ pointer }) => shown.includes(pointer));
  return at.length > 0 ? new FieldFaults(new Map(at.map((f) => [f.pointer, f.message]))) : new Error(first.message);
}
