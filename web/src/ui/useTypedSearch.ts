import { useEffect, useState } from 'react';

// A browser allows some two hundred changes of its address in ten seconds, and ignores the rest.
const quiet = 300;

export interface TypedSearch {
  text: string;
  type: (text: string) => void;
  /** Says it now, as Enter does. */
  settle: () => void;
}

/**
 * What is typed into a search box whose words stand in the address: on the screen at once, in the address when the typing
 * rests. The address wins when it changes by itself, as it does with Back.
 */
export function useTypedSearch(said: string, say: (text: string) => void): TypedSearch {
  const [{ text, known }, setState] = useState({ text: said, known: said });
  if (said !== known) setState({ text: said, known: said });
  const open = text !== said;
  // Who goes back or forward is somewhere else, though the words may be the same there: what was typed belongs to what they left.
  useEffect(() => {
    const forget = (): void => setState(({ known }) => ({ text: known, known }));
    window.addEventListener('popstate', forget);
    return () => window.removeEventListener('popstate', forget);
  }, []);
  useEffect(() => {
    if (!open) return;
    const timer = setTimeout(() => say(text), quiet);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the typing is what is waited for
  }, [open, text]);
  return {
    text,
    type: (next) => setState({ text: next, known: said }),
    settle: () => {
      if (open) say(text);
    },
  };
}
