import type { ReactNode } from 'react';
import { milliseconds, plural } from './format';
import { rich } from './rich';

const checked = 'It is checked and run before you see it. Nothing changes until you apply it.';

export const proposals = {
  attempt: (n: number) => (n === 1 ? 'The language model works on it.' : `The language model works on attempt ${n}.`),
  elapsed: (n: number) => `${n} s`,
  failedAttempts: 'Attempts that failed their checks',
  delay: (ms: number) => `Next attempt after ${milliseconds(ms)}.`,
  attempts: (n: number) => plural(n, { one: 'earlier attempt failed', other: 'earlier attempts failed' }),
  succeeded: (output: ReactNode) => rich`With this change the run succeeds: ${output}`,
  verdict: (decision: string) => `Verdict of the gate: ${decision}.`,
  sides: { before: 'Draft', after: 'Proposal' },
  inputSchema: 'Input schema',
  outputSchema: 'Output schema',
  tests: 'Tests',
  model: (name: string, tokens: number) => `${name}, ${tokens} tokens. It can be wrong: read it before you apply it.`,
  notSaved: 'The draft could not be saved, so the language model was not asked.',
  stop: 'Stop',
  again: 'Try again',
  apply: 'Apply',
  undo: 'Undo',
};

export const fixDialog = {
  title: 'Propose a fix',
  about: `A language model proposes a change. ${checked}`,
  button: 'Propose a fix',
  applied: 'The proposed fix was applied.',
};

export const changeDialog = {
  titles: {
    change: 'Describe a change',
    tests: 'Write tests',
    document: 'Document the code',
    schemas: 'Write schemas',
  },
  about: `A language model gets the draft and proposes a change. ${checked}`,
  question: { label: 'What should change?', hint: 'For example: answer in Fahrenheit too.', verb: 'Propose' },
  applied: 'The proposal was applied.',
};

export const describeDialog = {
  title: 'Describe a new agent',
  about: 'A language model proposes a program with schemas and tests. It is checked and run before you see it.',
  description: 'What should it do?',
  descriptionHint: 'For example: count the words of a text, and list the ten most frequent ones.',
  language: 'Language',
  example: 'Example input (optional)',
  exampleHint: 'JSON. The proposed program is run with it.',
  noJson: 'This is not JSON.',
  verb: 'Propose',
  back: 'Change the description',
  name: 'Name',
  plan: 'Plan',
  succeeded: (output: ReactNode) => rich`The program runs with the sample input: ${output}`,
  create: 'Create agent',
  exampleName: 'Example',
};

export const opinionDialog = {
  titles: { explain: 'Explain the code', review: 'Review the code' },
  about: {
    explain: 'A language model describes the draft.',
    review:
      'Findings are opinions of a language model, no verdict of the gate. They are marked until the file changes.',
  },
  waiting: 'the answer of the language model',
  findings: 'Findings of the language model',
  severities: { low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' },
  model: (name: string, tokens: number) => `${name}, ${tokens} tokens. It can be wrong.`,
  marker: (model: string, message: string) => `Opinion of ${model}: ${message}`,
  code: 'opinion',
};

export const assistMenu = {
  button: 'Language model',
  change: 'Describe a change…',
  explain: 'Explain the code',
  review: 'Review the code',
  tests: 'Write tests',
  document: 'Document the code',
  schemas: 'Write schemas',
};
