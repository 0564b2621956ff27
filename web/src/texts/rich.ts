import { createElement, Fragment, type ReactNode } from 'react';

/** A sentence with elements, such as a bold name or a link. The text decides where they stand. */
export const rich = (said: TemplateStringsArray, ...parts: ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...said.flatMap((text, i) => [text, parts[i]]));
