import { createElement, Fragment, type ReactNode } from 'react';

/** A sentence that holds more than text, such as a name in bold or a link: the language says where it stands. */
export const rich = (said: TemplateStringsArray, ...parts: ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...said.flatMap((text, i) => [text, parts[i]]));
