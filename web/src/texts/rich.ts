import { createElement, Fragment, type ReactNode } from 'react';

/** Builds a sentence that contains elements, such as a bold name or a link. The text determines their positions. */
export const rich = (said: TemplateStringsArray, ...parts: ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...said.flatMap((text, i) => [text, parts[i]]));
