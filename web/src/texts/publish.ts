import type { ReactNode } from 'react';
import { form, plural } from './format';
import { rich } from './rich';

export const publishDialog = {
  sameInputAndOutput: 'Same input and output',
  moreIsPossibleOldCalls: 'More is possible, old calls still work',
  oldCallsMayFail: 'Old calls may fail',
  notAVersion: 'A version looks like 1.2.0.',
  sayWhyTheNumber: 'Say why the number may be smaller than advised; the version keeps it.',
  theDraftIsNotSaved: 'The draft is not saved yet, so it cannot be published.',
  publish: (name: string) => `Publish ${name}`,
  publishAbout: 'A version never changes. Others call it by its number, and get exactly this.',
  replaying: 'Replaying…',
  theLastVersionIs: (latestVersion: string) => `The last version is ${latestVersion}. The next is`,
  advised: (about: string) => `${about} (advised)`,
  another: 'Another',
  version: 'Version',
  comparingWith: (latestVersion: string) => `Comparing with ${latestVersion}…`,
  notTold: (reason: string) => `What changed could not be told. ${reason}`,
  whyMayItBeSmaller: 'Why may it be smaller than advised?',
  whyMayItBeSmallerHint: (latest: string, version: string) =>
    `Callers of ${latest} who take ${version === '' ? 'it' : version} may break. The version keeps what you say here.`,
  publishAllTheSame: (version: string) => `Publish ${version} all the same`,
  changelog: 'Changelog',
  nothingDiffersFrom: (latestVersion: string) => `Nothing differs from ${latestVersion}.`,
  advice: 'Advice',
  advisedBecause: (version: ReactNode, bump: string) => rich`Advised: ${version}, a ${bump} version, because`,
  published: (version: string) => `Published ${version}`,
  openIt: 'Open it',
  exportAsTool: 'Export as tool',
  callItBy: 'Call it by',
  copyReference: 'Copy reference',
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
  publishOnlyIfThey: 'Publish only if they are answered as before',
  publishOnlyIfTheyHint:
    'The server replays once more when it publishes, and refuses if an output changed or a run fails.',
  none: (version: string) => `No run of ${version} is recorded yet.`,
  same: (length: number, version: string) =>
    `The draft answers ${plural(length, { one: 'recorded input', other: 'recorded inputs' })} as ${version} did.`,
  whatDiffers: 'What differs',
  slower: (words: string) => `${words}, slower`,
  differ: (n: number, all: number) =>
    `${n} of ${plural(all, { one: 'recorded input', other: 'recorded inputs' })} ${form(n, { one: 'differs', other: 'differ' })}.`,
  draft: 'draft',
  tooLargeToShow: 'too large to show',
};
