import { Code, Eye, ShieldCheck, UserCog, type LucideIcon } from 'lucide-react';
import type { Role } from '../../api/types';
import { roles as say } from '../../texts/access';

/** Lists the roles with their purpose, lowest first. */
export const roles: readonly (readonly [Role, string])[] = [
  ['viewer', say.viewer],
  ['developer', say.developer],
  ['approver', say.approver],
  ['administrator', say.administrator],
];

export const roleIcons: Record<Role, LucideIcon> = {
  viewer: Eye,
  developer: Code,
  approver: ShieldCheck,
  administrator: UserCog,
};
