// Contains the rows of the environment table. A row may not be a valid variable while the user types.
import { environment as say } from '../../texts/config';
export interface Variable {
  id: number;
  name: string;
  value: string;
}

const reserved =
  /^(PATH|HOME|LANG|TMPDIR|INPUT|INPUT_FILE|OUTPUT|LD_.*|PYTHON.*|NODE_.*|BASH.*|ENV|IFS|SHELLOPTS|PS4|POSIXLY_CORRECT|POSIX_PEDANTIC|__atelier_.*|(?:https?|no|all)_proxy|(?:HTTPS?|NO|ALL)_PROXY)$/;
const mostNames = 64;
const mostBytes = 32 * 1024;

/** Returns the reason why a row is not a valid variable, or undefined. The server checks the row again. */
export function variableFault(rows: Variable[], index: number): string | undefined {
  const row = rows[index];
  if (!row || (row.name === '' && row.value === '')) return undefined;
  if (row.name === '') return say.aNameIsNeeded;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(row.name)) return say.aNameHasLettersDigits;
  if (reserved.test(row.name)) return say.isReservedByTheSandbox(row.name);
  if (rows.some((r, i) => i < index && r.name === row.name)) return say.isThereTwice(row.name);
  return undefined;
}

export function environmentFault(rows: Variable[]): string | undefined {
  if (rows.length > mostNames) return say.atMostVariables(mostNames);
  const size = rows.reduce((n, r) => n + new TextEncoder().encode(r.name + r.value).length, 0);
  return size > mostBytes ? say.allNamesAndValuesTogether : undefined;
}

export function toEnvironment(rows: Variable[]): Record<string, string> {
  return Object.fromEntries(
    rows.filter((r, i) => r.name !== '' && variableFault(rows, i) === undefined).map((r) => [r.name, r.value]),
  );
}

export const sameEnvironment = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([k, v]) => b[k] === v);
