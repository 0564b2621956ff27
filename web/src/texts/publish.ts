import type { ReactNode } from 'react';
import { form, plural } from './format';
import { rich } from './rich';

export const publishDialog = {
  sameInputAndOutput: 'Patch: same input and output',
  moreIsPossibleOldCalls: 'Minor: adds to them',
  oldCallsMayFail: 'Major: may break callers',
  notAVersion: 'Enter a version such as 1.2.0.',
  sayWhyFirst: 'Give a reason for a lower number than advised.',
  theDraftIsNotSaved: 'The draft is not saved yet, so it cannot be published.',
  publish: (name: string) => `Publish ${name}`,
  publishAbout: 'Versions cannot be edited. Callers use the version number and get exactly this code.',
  replaying: 'Replaying…',
  theLastVersionIs: (latestVersion: string) => `The last version is ${latestVersion}. The next is`,
  advised: (about: string) => `${about} (advised)`,
  another: 'Another',
  version: 'Version',
  theAdvice: 'the advice',
  notTold: (reason: string) => `The changes could not be determined. ${reason}`,
  whyMayItBeSmaller: 'Reason for a lower number than advised',
  whyMayItBeSmallerHint: (latest: string, version: string) =>
    `Callers of ${latest} who take ${version === '' ? 'it' : version} may break. The reason is stored with the version.`,
  publishAllTheSame: (version: string) => `Publish ${version} anyway`,
  whyMayItBreak: 'Reason for publishing with failed tests',
  whyMayItBreakHint: 'It becomes a major version. The reason and the failed tests are stored with it.',
  acceptRegressions: 'Publish although these tests fail, as a major version',
  sayWhyItMayBreak: 'Give a reason for publishing with failed tests.',
  changelog: 'Changelog',
  nothingDiffersFrom: (latestVersion: string) => `No changes since ${latestVersion}, so there is nothing to publish.`,
  soItIsNotTheDraft: 'Differences are caused by time, randomness or another service.',
  advice: 'Advice',
  advisedBecause: (version: ReactNode, bump: string) => rich`Advised: ${version}, a ${bump} version, because`,
  published: (version: string) => `Published ${version}`,
  openIt: 'Open it',
  exportAsTool: 'Export as tool',
  callItBy: 'Reference:',
  copyReference: 'Copy reference',
};

/** Reasons for a version number, in addition to those of the server. */
export const heard = {
  another: (n: number, all: number) =>
    `${n} of ${plural(all, { one: 'recorded input', other: 'recorded inputs' })} ${form(n, { one: 'gives', other: 'give' })} another output`,
  workNoMore: (n: number, all: number) =>
    `${n} of ${plural(all, { one: 'recorded input', other: 'recorded inputs' })} ${form(n, { one: 'fails or is', other: 'fail or are' })} refused now`,
};

export const describedDialog = {
  title: 'Description for models',
  /** The name of the field comes first, then the server's message. */
  warns: (message: string) => `The description ${message}`,
  good: 'The description is good for models.',
  example: 'For example: Returns the forecast of a city for the next days. Use it for questions about the weather.',
};

export const editorErrors = {
  title: 'Errors in the editor',
  marks: (n: number) =>
    `The editor marks ${plural(n, { one: 'error', other: 'errors' })} in this draft. Versions cannot be edited. Check these first:`,
  showAll: (n: number) => `Show all ${n}`,
};

export const replaySection = {
  sameOutput: 'Same output',
  anotherOutput: 'Another output',
  failsNow: 'Fails now',
  inputRefusedNow: 'Input refused now',
  worksNow: 'Works now',
  theDraftIsNotSaved: 'The draft is not saved yet.',
  replay: 'Replay',
  about: (latestVersion: string) =>
    `Runs the draft with inputs that ${latestVersion} had, and lists the outputs that differ.`,
  recordedInputs: 'Recorded inputs',
  lastInputs: (n: number) => `Last ${n} inputs`,
  replaying: 'Replaying…',
  publishOnlyIfThey: 'Publish only if every output stays the same',
  publishOnlyIfTheyHint:
    'The server replays once more when it publishes, and refuses if an output changed or a run fails.',
  none: (version: string) => `No run of ${version} is recorded yet.`,
  same: (length: number, version: string) =>
    `The draft answers ${plural(length, { one: 'recorded input', other: 'recorded inputs' })} as ${version} did.`,
  differences: 'Differences',
  slower: (words: string) => `${words}, slower`,
  differ: (n: number, all: number) =>
    `${n} of ${plural(all, { one: 'recorded input', other: 'recorded inputs' })} ${form(n, { one: 'differs', other: 'differ' })}.`,
  draft: 'draft',
  tooLargeToShow: 'too large to show',
};
