import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const accountPage = {
  pageTitle: 'Account · Atelier',
  account: 'Account',
  signedInWithAToken:
    'You are signed in with this token, which has no password. Its sessions end with it, on the page of tokens.',
  passwordIsChanged: 'The password is changed',
  presentPassword: 'Current password',
  presentPasswordHint: 'Leave it empty if you have none yet.',
  newPassword: 'New password',
  newPasswordHint: 'At least 12 characters. All your other sessions end.',
  changeThePassword: 'Change the password',
};

export const browserNames = {
  unknown: 'An unknown browser',
  on: (browser: string, system: string) => `${browser} on ${system}`,
};

export const invitationPage = {
  pageTitle: 'Invitation · Atelier',
  invitation: 'Invitation',
  linkIsNotWhole: 'The link is not whole: what follows the # is missing. Open it as it was sent.',
  theInvitation: 'the invitation',
  invited: (workspace: ReactNode, role: ReactNode, invitedBy: string) =>
    rich`You are invited into the workspace ${workspace} as ${role}, by ${invitedBy}.`,
  joinAs: (name: string) => `Join as ${name}`,
  joinAsSomebodyElse: 'Join as somebody else',
  chooseANameAndAPassword: 'Choose a name and a password.',
  loginName: 'Login name',
  loginNameHint: 'Lower case, such as your e-mail address. If you have an account here, give its name.',
  yourName: 'Your name',
  yourNameHint: 'What others see; the login name without it.',
  password: 'Password',
  passwordHint: 'At least 12 characters.',
  join: 'Join',
};

export const invitations = {
  invitations: 'Invitations',
  lead: 'A link that makes one person a member, once, within a week.',
  invite: 'Invite…',
  theInvitations: 'the invitations',
  notLoaded: (reason: string) => `The invitations could not be loaded. ${reason}`,
  noneIsOpen: 'No invitation is open.',
  tookBack: (note: string) => `Took the invitation for ${note} back`,
  tookBackForRole: (role: string) => `Took the invitation for a ${role} back`,
  facts: (role: string, createdBy: string, until: string) => `${role} · by ${createdBy} · until ${until}`,
  takeBackFor: (note: string) => `Take back the invitation for ${note}`,
  takeBackForRole: (role: string) => `Take back the invitation for a ${role}`,
  takeBack: 'Take back',
  inviteSomebody: 'Invite somebody',
  makeTheLink: 'Make the link',
  role: 'Role',
  for: 'For',
  forHint: 'A note on whom it is for. Whoever has the link can use it.',
  theInvitation: 'The invitation',
  theInvitationAbout:
    'Send the link to one person: it is shown this once, and whoever opens it first becomes a member.',
  copyTheLink: 'Copy the link',
  copy: 'Copy',
  link: 'Link',
};

export const members = {
  people: 'People',
  lead: (workspace = 'this workspace') =>
    `Who works in ${workspace}. A role counts from the moment that it is given, also for what somebody has open.`,
  renameTheWorkspace: 'Rename the workspace…',
  thePeople: 'the people',
  notLoaded: (reason: string) => `The people could not be loaded. ${reason}`,
  since: (day: string) => `since ${day}`,
  you: 'you',
  roleOf: (title: string) => `Role of ${title}`,
  roleIsNow: (title: string, role: string) => `${title} is ${role} now`,
  remove: (title: string) => `Remove ${title}`,
  removeButton: 'Remove…',
  removeTitle: (title: string) => `Remove ${title}?`,
  removeAbout:
    'They see nothing of this workspace from now on, and the tokens that act for them here are revoked. What they made stays.',
  removeVerb: 'Remove',
  removed: (title: string) => `Removed ${title}`,
};

export const newTokenDialog = {
  days: (n: number) => plural(n, { one: 'day', other: 'days' }),
  aYear: 'a year',
  never: 'never',
  sayWhatItIsFor: 'Say what it is for.',
  chooseWhatItMayDo: 'Choose what it may do.',
  newToken: 'New token',
  makeIt: 'Make it',
  name: 'Name',
  nameHint: 'What it is for, such as the program that shows it.',
  itMay: 'It may',
  onlyForTheseAgents: 'Only for these agents',
  onlyForTheseAgentsHint: 'Names, with commas between. Without one it is for all.',
  expiresAfter: 'Expires after',
  aboutAgent: (agent: string, complaint: string) => `${agent}: ${complaint}`,
  theToken: (name: string) => `The token ${name}`,
  theTokenAbout: 'Copy it now: it is shown this once, and only its hash is kept.',
  copyTheToken: 'Copy the token',
  copy: 'Copy',
  secret: 'Secret',
};

export const peoplePage = {
  pageTitle: 'People · Atelier',
};

export const roles = {
  viewer: 'Sees agents, their code, versions and runs.',
  developer: 'Makes, changes, runs and publishes agents as well.',
  approver: 'Promotes and installs skills and imports archives as well.',
  administrator: 'Everything: people, tokens and secrets too.',
};

export const scopes = {
  read: 'See agents, their code, versions and runs.',
  run: 'Run agents, skills and code. Without read it sees only the runs that it started.',
  write: 'Make, change, publish and delete agents.',
  approve: 'Promote and install skills, and import archives: what others run is other code from then on.',
  admin: 'Everything, tokens too.',
};

export const sessions = {
  sessions: 'Sessions',
  lead: 'Browsers that are signed in. A session lasts 30 days, or as long as its token.',
  theSessions: 'the sessions',
  notLoaded: (reason: string) => `The sessions could not be loaded. ${reason}`,
  none: 'No browser is signed in.',
  signedOut: (name: string) => `Signed ${name} out`,
  neverUsed: 'never used',
  used: (when: string) => `used ${when}`,
  signedIn: (when: string) => `signed in ${when}`,
  ends: (day: string) => `ends ${day}`,
  thisBrowser: 'This browser',
  signOut: (name: string) => `Sign out ${name}`,
  signOutButton: 'Sign out…',
  signOutTitle: (name: string) => `Sign ${name} out?`,
  signOutAbout: 'It has to sign in again before it sees anything else. What is unsaved stays in that browser.',
  signOutVerb: 'Sign out',
};

export const tokensPage = {
  pageTitle: 'Tokens · Atelier',
  tokens: 'Tokens',
  lead: 'Programs sign in with a token. Give each its own, with no more scopes than it needs.',
  newToken: 'New token…',
  theTokens: 'the tokens',
  notLoaded: (reason: string) => `The tokens could not be loaded. ${reason}`,
  none: (command: ReactNode) => rich`There is no token yet. Make one here, or run ${command}.`,
  showClosedToo: 'Show revoked and expired tokens too',
  scopesOf: (name: string) => `Scopes of ${name}`,
  only: (agents: string) => `Only ${agents}`,
  revoke: (name: string) => `Revoke ${name}`,
  revokeButton: 'Revoke…',
  revokeTitle: (name: string) => `Revoke ${name}?`,
  revokeAbout: 'Whoever shows it is refused from now on, and its sessions end. This cannot be taken back.',
  revokeVerb: 'Revoke',
  revoked: (name: string) => `Revoked ${name}`,
  neverUsed: 'never used',
  used: (when: string) => `used ${when}`,
  neverExpires: 'never expires',
  expires: (day: string) => `expires ${day}`,
  expired: (when: string) => `expired ${when}`,
  wasRevoked: (when: string) => `revoked ${when}`,
  made: (when: string) => `made ${when}`,
};
