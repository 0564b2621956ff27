import type { ReactNode } from 'react';
import css from './JsonText.module.css';

// Matches keys, texts, numbers and literals, in the order of the groups.
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** Shows JSON with syntax colours, without the editor. */
export function JsonText({ text }: { text: string }) {
  const parts: ReactNode[] = [];
  let done = 0;
  for (const match of text.matchAll(token)) {
    const [all, string, colon, number] = match;
    parts.push(text.slice(done, match.index));
    const look =
      string === undefined
        ? number === undefined
          ? css.word
          : css.number
        : colon === undefined
          ? css.string
          : css.key;
    parts.push(
      <span key={match.index} className={look}>
        {string ?? all}
      </span>,
    );
    done = match.index + (string ?? all).length;
  }
  parts.push(text.slice(done));
  return <>{parts}</>;
}
