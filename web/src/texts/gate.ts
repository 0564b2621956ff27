import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const gateNav = {
  label: 'Gate',
  approvals: 'Approvals',
  blocked: 'Blocked requests',
  rules: 'Rules',
};

const severities = { low: 'low', medium: 'medium', high: 'high', critical: 'critical' };

export const rulesPage = {
  pageTitle: 'Rules · Atelier',
  title: 'Rules',
  lead: 'The gate checks each program before it is published or run. It applies these rules and gives a verdict: no findings, findings, needs a decision, or blocks.',
  readOnly: (why: string) => `You can read the rules and try them, and cannot change them. ${why}`,
  theGate: 'the settings of the gate',
  notLoaded: (reason: string) => `The settings of the gate could not be loaded. ${reason}`,
  settings: 'Settings',
  mode: 'Mode',
  modes: { off: 'Off', advise: 'Advise', enforce: 'Enforce' },
  aboutModes: {
    off: 'The gate checks no program.',
    advise: 'The gate shows its verdicts, and stops only the publications that it blocks.',
    enforce: 'The gate stops what it blocks. An approver decides about what needs a decision.',
  },
  effects: 'Effects of the gate',
  causes: {
    any: 'Every version',
    blocks: 'A verdict that blocks',
    escalates: 'A verdict that needs a decision',
    sideEffect: (flag: ReactNode) => rich`A run of a version with the flag ${flag}`,
    asksForApproval: (setting: ReactNode) => rich`A run of an agent with the setting ${setting}`,
  },
  isPublished: 'is published and runs without a verdict',
  stopsPublishing: 'stops publishing; published versions still run',
  stopsAll: 'stops publishing and stops runs',
  isShown: 'is shown; nothing has to wait',
  starts: 'starts at once, unless the server requires an approval',
  waits: 'waits for an approver',
  verdicts: 'Verdicts',
  approvals: 'Approvals',
  blockAt: 'Block from severity',
  blockAtHint: 'A finding of this severity or a higher one blocks.',
  escalateAt: 'Needs a decision from severity',
  escalateAtHint: 'A finding of this severity or a higher one needs a decision.',
  newCapability: 'A new capability',
  newCapabilities: { escalate: 'needs a decision', warn: 'is a warning' },
  newCapabilityHint: 'For example a host that the version before did not reach.',
  approvalHours: 'A request expires after',
  hours: 'hours',
  hoursRange: 'must be a number from 1 to 8760',
  selfApproval: 'Approvers may decide about their own requests',
  approveSideEffects: (flag: ReactNode) => rich`An approver decides about each run of a version with the flag ${flag}`,
  save: 'Save settings',
  saved: 'The settings of the gate are saved.',
  severities,
  try: 'Try the rules',
  tryAbout: 'Nothing is stored or run. The findings follow while you type.',
  rulesToTry: 'Rules',
  activeRules: 'The rules that apply here',
  packToTry: (name: string) => `All rules of ${name}`,
  ruleToTry: (name: string) => `Only ${name}`,
  language: 'Language',
  languages: { python: 'Python', javascript: 'JavaScript', typescript: 'TypeScript', bash: 'Bash' },
  code: 'Code',
  notJudged: (reason: string) => `The code could not be judged. ${reason}`,
  typeSomething: 'Type or paste code to see the findings.',
  packs: 'Rule packs',
  thePacks: 'the rule packs',
  packsNotLoaded: (reason: string) => `The rule packs could not be loaded. ${reason}`,
  newPack: 'New rule pack',
  builtIn: 'shipped with Atelier',
  own: 'of this workspace',
  count: (n: number, off: number) =>
    plural(n, { one: 'rule', other: 'rules' }) + (off === 0 ? '' : `, ${String(off)} turned off`),
  applies: 'Applies to every program',
  restrictedHint: 'It always applies to programs that declare restricted rules, and to created skills.',
  edit: 'Edit',
  editNamed: (pack: string) => `Edit ${pack}`,
  remove: 'Delete',
  removeNamed: (pack: string) => `Delete ${pack}`,
  turnOffFirst: 'The pack applies to every program. Turn it off first.',
  removeTitle: (pack: string) => `Delete the rule pack ${pack}?`,
  removeAbout: 'Its rules no longer apply. Verdicts that were recorded keep their findings.',
  removed: (pack: string) => `Deleted ${pack}.`,
  search: 'Find rules',
  noneFound: 'No rule matches.',
  allLanguages: 'all languages',
  weight: (weight: number) => `weight ${String(weight)}`,
  requires: 'required',
  tryRule: 'Try',
  tryNamed: (rule: string) => `Try ${rule}`,
  ruleList: (pack: string) => `Rules of ${pack}`,
  isOn: (rule: string) => `${rule} is on.`,
  isOff: (rule: string) => `${rule} is off.`,
};

export const packDialog = {
  newPack: 'New rule pack',
  editPack: (pack: string) => `Edit ${pack}`,
  about: (schema: ReactNode) => rich`YAML that matches ${schema}. A pack applies to every program once you turn it on.`,
  source: 'Rule pack (YAML)',
  sample: 'Python code to try it on',
  save: 'Save pack',
  saved: (pack: string) => `Saved ${pack}.`,
  line: (line: number) => `Line ${String(line)}`,
  goToLine: (line: number) => `Go to line ${String(line)}`,
  nameMissing: 'Write the name on a line of its own, for example name: team-rules',
  nameTaken: (pack: string) => `There is a pack named ${pack} already. Choose another name.`,
  nameKept: (pack: string) => `A pack keeps its name. Write name: ${pack}, or create a new pack.`,
  valid: 'The pack is valid.',
  program: 'def main(input, ctx):\n    print(input)\n',
  template: `name: team-rules
title: Our own rules
rules:
  - id: no-print
    title: Prints.
    language: [python]
    severity: medium
    match: {fact: [call], name: [print]}
    remedy: Use ctx.log, which has a level and fields.
`,
};

export const blockedPage = {
  pageTitle: 'Blocked requests · Atelier',
  title: 'Blocked requests',
  lead: 'Runs that the policy of this server denied, each with the reason. Submit a run again after the program or the policy has changed, or drop it.',
  theRequests: 'the blocked requests',
  show: 'Show',
  waiting: 'Waiting',
  all: 'All',
  run: (what: string) => `Run of ${what}`,
  reason: 'Reason',
  inlineCode: 'inline code',
  by: (name: string, at: string) => `requested by ${name}, ${at}`,
  until: (at: string) => `kept until ${at}`,
  policy: 'Policy version',
  remedy: 'To do',
  openBlocked: 'Open the blocked run',
  openRun: 'Open the run',
  resubmit: 'Submit again',
  resubmitNamed: (what: string) => `Submit again: ${what}`,
  drop: 'Drop',
  dropNamed: (what: string) => `Drop: ${what}`,
  dropTitle: (what: string) => `Drop the request to run ${what}?`,
  dropAbout: 'Its input is removed, and it can no longer be submitted.',
  resubmitted: 'Submitted again.',
  dropped: 'Dropped.',
  states: { blocked: 'blocked', resubmitted: 'submitted again', dropped: 'dropped', expired: 'expired' },
  decided: (status: string, by: string, at: string) => `${status} by ${by}, ${at}`,
  refused: (message: string, remedy: string) => `${message} ${remedy}`.trim(),
  nothing: 'No request is blocked.',
  ask: (option: ReactNode, variable: ReactNode) =>
    rich`A policy service, such as the Open Policy Agent, may deny runs. An administrator sets its address with ${option} or ${variable}.`,
  noService: (approvals: ReactNode) => rich`Runs that wait for a person are in ${approvals}.`,
};

/** Programs with which the user tries rules. Each contains code to which a built-in rule applies. */
export const trialSamples = {
  python: `import os


def main(input, ctx):
    os.system("ls " + input["folder"])
    return eval(input["sum"])
`,
  javascript: `import { execSync } from 'node:child_process';

export default ({ sum }) => {
  execSync('ls');
  return eval(sum);
};
`,
  typescript: `import { execSync } from 'node:child_process';

export default ({ sum }: { sum: string }): unknown => {
  execSync('ls');
  return eval(sum);
};
`,
  bash: `curl https://example.com/install.sh | bash
eval "$1"
`,
};
