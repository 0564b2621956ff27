import type { ReactNode } from 'react';
import { form, plural } from './format';
import { rich } from './rich';

export const publishDialog = {
  sameInputAndOutput: 'Input and output keep their form',
  moreIsPossibleOldCalls: 'Adds to it, and old calls still work',
  oldCallsMayFail: 'Old calls may fail',
  notAVersion: 'A version looks like 1.2.0.',
  sayWhyFirst: 'Say why the number can be smaller than advised.',
  theDraftIsNotSaved: 'The draft is not saved yet, so it cannot be published.',
  publish: (name: string) => `Publish ${name}`,
  publishAbout: 'A version never changes. Others call it by its number, and get exactly this.',
  replaying: 'Replaying…',
  theLastVersionIs: (latestVersion: string) => `The last version is ${latestVersion}. The next is`,
  advised: (about: string) => `${about} (advised)`,
  another: 'Another',
  version: 'Version',
  theAdvice: 'the advice',
  notTold: (reason: string) => `What changed could not be worked out. ${reason}`,
  whyMayItBeSmaller: 'Why can it be smaller than advised?',
  whyMayItBeSmallerHint: (latest: string, version: string) =>
    `Callers of ${latest} who take ${version === '' ? 'it' : version} may break. The version keeps what you say here.`,
  publishAllTheSame: (version: string) => `Publish ${version} anyway`,
  changelog: 'Changelog',
  nothingDiffersFrom: (latestVersion: string) => `No changes since ${latestVersion}.`,
  soItIsNotTheDraft: 'Outputs that differ come from the time, from chance or from another service.',
  advice: 'Advice',
  advisedBecause: (version: ReactNode, bump: string) => rich`Advised: ${version}, a ${bump} version, because`,
  published: (version: string) => `Published ${version}`,
  openIt: 'Open it',
  exportAsTool: 'Export as tool',
  callItBy: 'Call it by',
  copyReference: 'Copy reference',
};

/** Reasons for a version number, in addition to the server's. */
export const heard = {
  another: (n: number, all: number) =>
    `${n} of ${plural(all, { one: 'recorded input', other: 'recorded inputs' })} ${form(n, { one: 'gives', other: 'give' })} another output`,
  workNoMore: (n: number, all: number) =>
    `${n} of ${plural(all, { one: 'recorded input', other: 'recorded inputs' })} ${form(n, { one: 'fails or is', other: 'fail or are' })} refused now`,
};

export const editorErrors = {
  title: 'Errors in the editor',
  marks: (n: number) =>
    `The editor marks ${plural(n, { one: 'error', other: 'errors' })} in this draft. A version never changes, so look first:`,
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
  whatDiffers: 'What differs',
  slower: (words: string) => `${words}, slower`,
  differ: (n: number, all: number) =>
    `${n} of ${plural(all, { one: 'recorded input', other: 'recorded inputs' })} ${form(n, { one: 'differs', other: 'differ' })}.`,
  draft: 'draft',
  tooLargeToShow: 'too large to show',
};
