import type { ReactNode } from 'react';
import { form, plural } from './format';
import { rich } from './rich';

export const accountPage = {
  pageTitle: 'Account · Atelier',
  account: 'Account',
  password: 'Password',
  name: 'Name',
  workspace: 'Workspace',
  role: 'Role',
  signedInWithAToken:
    'You are signed in with a token, which has no password. Revoking it on the Tokens page ends its sessions.',
  passwordLead: 'With a password you sign in without a link or a token.',
  passwordIsChanged: 'Password changed',
  currentPassword: 'Current password, if you have one',
  newPassword: 'New password',
  newPasswordHint: 'At least 12 characters. Your other sessions are signed out.',
  changeThePassword: 'Change password',
};

export const browserNames = {
  unknown: 'An unknown browser',
  on: (browser: string, system: string) => `${browser} on ${system}`,
};

export const invitationPage = {
  pageTitle: 'Invitation · Atelier',
  invitation: 'Invitation',
  joinThe: (workspace: string) => `Join ${workspace}`,
  linkIsNotWhole: 'The link is incomplete: the part after the # is missing. Open it as it was sent.',
  mayBeAMember: 'If you have an account here, sign in with it.',
  signIn: 'Sign in',
  openTheStudio: 'Open the Studio',
  theInvitation: 'the invitation',
  invited: (invitedBy: string, workspace: ReactNode, role: ReactNode) =>
    rich`${invitedBy} invites you to the workspace ${workspace}. Your role there will be ${role}.`,
  may: {
    viewer: 'You see agents, their code, versions and runs.',
    developer: 'You create, change, run and publish agents, and set secrets.',
    approver: 'You write and publish agents, promote and install skills, and import archives.',
    administrator: 'You may do everything, including people and tokens.',
  },
  signedInAs: (name: ReactNode) => rich`You are signed in as ${name}.`,
  useAnotherAccount: 'Use another account',
  chooseANameAndAPassword: 'Choose a name and password.',
  signInName: 'Sign-in name',
  signInNameHint: 'Lower case, such as your e-mail address. If you already have an account here, enter its name.',
  yourName: 'Your name',
  yourNameHint: 'Shown to others. Leave empty to use the sign-in name.',
  password: 'Password',
  passwordHint: 'At least 12 characters.',
  join: 'Join the workspace',
};

export const invitations = {
  invitations: 'Invitations',
  lead: 'Each link makes one person a member. It works once, within a week. If a link is lost, withdraw it and create another.',
  theInvitations: 'the invitations',
  notLoaded: (reason: string) => `The invitations could not be loaded. ${reason}`,
  noneIsOpen: 'No open invitations.',
  inviteThem: 'Choose “Invite”, a role, and a note that says for whom the link is.',
  sendIt: 'Send the link to that person. It works once, within a week, and you can withdraw it here.',
  joined: 'The person chooses a name and a password, or joins with an account, and then is listed above.',
  withdrew: (note: string) => `Withdrew the invitation for ${note}`,
  withdrewForRole: (role: string) => `Withdrew the ${role} invitation`,
  by: 'Invited by',
  ends: 'Ends',
  endsIn: (days: number) => (days <= 1 ? 'within a day' : `in ${plural(days, { one: 'day', other: 'days' })}`),
  actions: 'Actions',
  anyone: 'anyone with the link',
  withdrawFor: (note: string) => `Withdraw the invitation for ${note}`,
  withdrawForRole: (role: string) => `Withdraw the ${role} invitation`,
  withdraw: 'Withdraw',
  inviteSomebody: 'Invite someone',
  makeTheLink: 'Create link',
  role: 'Role',
  for: 'For',
  forHint: 'A note with the recipient. Anyone who has the link can use it.',
  theInvitation: 'Invitation link',
  theInvitationAbout:
    'Send the link to one person. It is shown only once, and the first person to open it becomes a member.',
  copyTheLink: 'Copy link',
  copy: 'Copy',
  link: 'Link',
};

export const members = {
  people: 'People',
  lead: (workspace = 'this workspace') =>
    `The members of ${workspace}. A new role applies at once, also to open pages.`,
  renameTheWorkspace: 'Rename the workspace…',
  invite: 'Invite…',
  byRole: 'People by role',
  ofRole: (role: string, count: number) => form(count, { one: role, other: `${role}s` }),
  thePeople: 'the people',
  notLoaded: (reason: string) => `The people could not be loaded. ${reason}`,
  name: 'Name',
  signInName: 'Sign-in name',
  role: 'Role',
  since: 'Member since',
  actions: 'Actions',
  you: 'you',
  roleOf: (title: string) => `Role of ${title}`,
  roleIsNow: (title: string, role: string) => `${title} is now ${role}`,
  lastAdministrator: 'The only administrator. Give another person this role to change it or to remove this one.',
  remove: (title: string) => `Remove ${title}`,
  removeButton: 'Remove',
  removeTitle: (title: string) => `Remove ${title}?`,
  removeAbout:
    'They lose access to this workspace at once, and the tokens that act for them here are revoked. Their work stays.',
  removeVerb: 'Remove',
  removed: (title: string) => `Removed ${title}`,
};

export const newTokenDialog = {
  days: (n: number) => plural(n, { one: 'day', other: 'days' }),
  aYear: 'a year',
  never: 'never',
  sayWhatItIsFor: 'Enter a name.',
  chooseWhatItMayDo: 'Choose at least one scope.',
  newToken: 'New token',
  makeIt: 'Create token',
  name: 'Name',
  nameHint: 'The program that uses it, for example.',
  itMay: 'Scopes',
  onlyForTheseAgents: 'Only for these agents',
  onlyForTheseAgentsHint: 'Names separated by commas. Leave empty for all agents.',
  expiresAfter: 'Expires after',
  aboutAgent: (agent: string, complaint: string) => `${agent}: ${complaint}`,
  theToken: (name: string) => `Token “${name}”`,
  theTokenAbout: 'Copy it now: it is shown only once, and only its hash is stored.',
  copyTheToken: 'Copy token',
  copy: 'Copy',
  secret: 'Secret',
};

export const peoplePage = {
  pageTitle: 'People · Atelier',
};

export const roleNames = {
  viewer: 'Viewer',
  developer: 'Developer',
  approver: 'Approver',
  administrator: 'Administrator',
};

export const roles = {
  viewer: 'Sees agents, their code, versions and runs.',
  developer: 'Also creates, changes, runs and publishes agents, and sets secrets.',
  approver: 'Also promotes and installs skills, and imports archives.',
  administrator: 'Everything, including people and tokens.',
};

export const roleList = {
  roles: 'Roles',
  lead: 'Each role includes the ones before it.',
};

export const scopes = {
  read: 'See agents, their code, versions and runs.',
  run: 'Run agents, skills and code. Without read, it sees only the runs it started.',
  write: 'Create, change, publish and delete agents, and set secrets.',
  approve: 'Promote and install skills, and import archives. This changes the code that others run.',
  admin: 'Everything, including tokens.',
};

export const sessions = {
  sessions: 'Sessions',
  lead: 'Browsers that are signed in. A session lasts 30 days, or as long as its token.',
  theSessions: 'the sessions',
  notLoaded: (reason: string) => `The sessions could not be loaded. ${reason}`,
  none: 'No browser is signed in.',
  whose: 'Whose sessions',
  own: 'Mine',
  everybody: 'Everybody’s',
  browser: 'Browser',
  person: 'Person',
  address: 'Address',
  lastUse: 'Last use',
  never: 'never',
  ends: 'Ends',
  actions: 'Actions',
  signedOut: (name: string) => `Signed ${name} out`,
  signedIn: 'Signed in',
  thisBrowser: 'This browser',
  signOut: (name: string) => `Sign out ${name}`,
  signOutButton: 'Sign out',
  signOutTitle: (name: string) => `Sign ${name} out?`,
  signOutAbout: 'It has to sign in again to go on. Unsaved edits stay in that browser.',
  signOutVerb: 'Sign out',
  signOutOthers: 'Sign out all others',
  signOutOthersTitle: (n: number) => `Sign out ${plural(n, { one: 'other browser', other: 'other browsers' })}?`,
  signOutOthersAbout:
    'They have to sign in again to go on. Unsaved edits stay in those browsers. This one stays signed in.',
  signedOutOthers: (n: number) => `Signed out ${plural(n, { one: 'other browser', other: 'other browsers' })}`,
};

export const tokensPage = {
  pageTitle: 'Tokens · Atelier',
  tokens: 'Tokens',
  lead: 'Programs sign in with tokens. Give each its own, with only the scopes it needs.',
  newToken: 'New token…',
  theTokens: 'the tokens',
  notLoaded: (reason: string) => `The tokens could not be loaded. ${reason}`,
  none: 'No tokens yet.',
  makeIt: (command: ReactNode) =>
    rich`Create a token for one program with the scopes it needs, here or with ${command}.`,
  sendIt: (header: ReactNode, variable: ReactNode) =>
    rich`The program sends it as ${header}. The command line reads it from ${variable}.`,
  revokeIt: 'Revoke it here when the program is gone or the token leaked. It is refused at once.',
  showClosedToo: 'Show revoked and expired tokens too',
  scopesOf: (name: string) => `Scopes of ${name}`,
  only: (agents: string) => `Only ${agents}`,
  revoke: (name: string) => `Revoke ${name}`,
  revokeButton: 'Revoke',
  revokeTitle: (name: string) => `Revoke ${name}?`,
  revokeAbout: 'Programs that use it are refused from now on, and its sessions end. This cannot be undone.',
  revokeVerb: 'Revoke',
  revoked: (name: string) => `Revoked ${name}`,
  expired: (when: string) => `expired ${when}`,
  wasRevoked: (when: string) => `revoked ${when}`,
  name: 'Name',
  scopes: 'Scopes',
  lastUse: 'Last use',
  end: 'Expires',
  made: 'Created',
  actions: 'Actions',
  unused: 'not used yet',
  never: 'never',
  neverHint: 'It never expires. Prefer an expiry.',
  neverAdmin: 'It may do everything and never expires. Prefer fewer scopes or an expiry.',
};
