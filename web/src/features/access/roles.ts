import type { Role } from '../../api/types';

/** The roles, the least first, and what each is for. */
export const roles: readonly (readonly [Role, string])[] = [
  ['viewer', 'Sees agents, their code, versions and runs.'],
  ['developer', 'Makes, changes, runs and publishes agents as well.'],
  ['approver', 'Promotes and installs skills and imports archives as well.'],
  ['administrator', 'Everything: people, tokens and secrets too.'],
];
