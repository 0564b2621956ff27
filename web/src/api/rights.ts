// What the person on the screen may do: nothing is offered that the server would refuse.
import { useSession } from './queries';
import type { Role, Scope, Session } from './types';

const roleFor: Record<Scope, Role> = {
  read: 'viewer',
  run: 'developer',
  write: 'developer',
  approve: 'approver',
  admin: 'administrator',
};

export interface Rights {
  may: (scope: Scope) => boolean;
  /** Why not, in one sentence. */
  why: (scope: Scope) => string;
}

type Known = Pick<Session, 'scopes' | 'role'>;

export function rightsOf(session: Known | undefined): Rights {
  return {
    may: (scope) => session === undefined || session.scopes.some((has) => has === 'admin' || has === scope),
    why: (scope) =>
      session?.role === undefined
        ? `This needs the scope ${scope}.`
        : `This needs the role ${roleFor[scope]}, and yours is ${session.role}.`,
  };
}

export const useRights = (): Rights => rightsOf(useSession().data);
