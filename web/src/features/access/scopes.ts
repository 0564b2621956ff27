import type { Scope, Token } from '../../api/types';

/** The scopes, the least first, and what each is for. */
export const scopeWords: readonly (readonly [Scope, string])[] = [
  ['read', 'See agents, their code, versions and runs.'],
  ['run', 'Run agents, skills and code. Without read it sees only the runs that it started.'],
  ['write', 'Make, change, publish and delete agents.'],
  ['approve', 'Promote and install skills, and import archives: what others run is other code from then on.'],
  ['admin', 'Everything, tokens too.'],
];

export type TokenState = 'open' | 'expired' | 'revoked';

export function tokenState(token: Pick<Token, 'expiresAt' | 'revokedAt'>, now: number): TokenState {
  if (token.revokedAt !== undefined) return 'revoked';
  return token.expiresAt !== undefined && Date.parse(token.expiresAt) <= now ? 'expired' : 'open';
}

/** Names as people write them: commas or spaces between, each once. */
export const namesIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];
