import type { Scope, Token } from '../../api/types';
import { scopes as say } from '../../texts/access';

/** Lists the scopes with their purpose, lowest first. */
export const scopeWords: readonly (readonly [Scope, string])[] = [
  ['read', say.read],
  ['run', say.run],
  ['write', say.write],
  ['approve', say.approve],
  ['admin', say.admin],
];

export type TokenState = 'open' | 'expired' | 'revoked';

export function tokenState(token: Pick<Token, 'expiresAt' | 'revokedAt'>, now: number): TokenState {
  if (token.revokedAt !== undefined) return 'revoked';
  return token.expiresAt !== undefined && Date.parse(token.expiresAt) <= now ? 'expired' : 'open';
}

/** Splits a text with names at commas and spaces, and removes duplicates. */
export const namesIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];
