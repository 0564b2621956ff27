import type { Secret } from '../api/types';
import { words as say } from '../texts/secrets';

/**
 * Returns the reason why a secret cannot have this name, or undefined for a valid name. The server checks the name
 * again.
 */
export function secretNameFault(name: string): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name) ? undefined : say.notAName;
}

/**
 * Returns the secret that an agent receives under a name. A secret of the agent takes precedence over a secret of the
 * workspace.
 */
export const secretOf = (all: Secret[], name: string, agentId: string): Secret | undefined =>
  all.find((s) => s.name === name && s.agentId === agentId) ??
  all.find((s) => s.name === name && s.agentId === undefined);
