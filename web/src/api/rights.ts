// Determines the user's permissions. The Studio offers only actions that the server would allow.
import { rights as say } from '../texts/api';
import { useSession } from './queries';
import type { Role, Scope, Session } from './types';

const roleFor: Record<Scope, Role> = {
  read: 'viewer',
  run: 'developer',
  write: 'developer',
  approve: 'approver',
  admin: 'administrator',
};

// The ID of the workspace whose administrators run the server. The name and title of this workspace may change.
const serverWorkspace = 'default';

const ranks: readonly Role[] = ['viewer', 'developer', 'approver', 'administrator'];

export interface Rights {
  may: (scope: Scope) => boolean;
  /** Whether the user may perform an action on more than one agent. A token may be restricted to some agents. */
  mayAnywhere: (scope: Scope) => boolean;
  /** Whether the user may create and close workspaces and set their quotas. */
  runsServer: boolean;
  /** The reason for a missing permission, as one sentence. */
  why: (scope: Scope) => string;
}

type Known = Pick<Session, 'scopes' | 'role' | 'workspace' | 'agents'>;

/** Whether a role includes a scope. */
export const suffices = (role: Role | undefined, scope: Scope): boolean =>
  role !== undefined && ranks.indexOf(role) >= ranks.indexOf(roleFor[scope]);

export function rightsOf(session: Known | undefined): Rights {
  const may = (scope: Scope): boolean =>
    session === undefined || session.scopes.some((has) => has === 'admin' || has === scope);
  const few = session?.agents.map((agent) => agent.name) ?? [];
  const mayAnywhere = (scope: Scope): boolean => may(scope) && few.length === 0;
  return {
    may,
    mayAnywhere,
    runsServer: mayAnywhere('admin') && session?.workspace.id === serverWorkspace,
    why: (scope) => {
      if (may(scope) && few.length > 0) return say.thisTokenIsFor(few);
      return session?.role === undefined || suffices(session.role, scope)
        ? say.thisNeedsTheScope(scope)
        : say.thisNeedsTheRole(roleFor[scope], session.role);
    },
  };
}

export const useRights = (): Rights => rightsOf(useSession().data);
