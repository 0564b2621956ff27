import type { ReactNode } from 'react';

/** Shows the parts of a sentence in backticks as code. The server puts names and commands in backticks. */
export const quoted = (sentence: string): ReactNode[] =>
  sentence.split('`').map((part, i) => (i % 2 === 0 ? part : <code key={i}>{part}</code>));
