import { ApiError } from '../../api/http';

/** What the server says of the first field that is wrong, where it says so: that is more than its sentence for all. */
export function complaint(error: unknown): unknown {
  const [first] = error instanceof ApiError ? error.fields : [];
  return first === undefined ? error : new Error(first.message);
}
