import { useEffect, useState } from 'react';

// Browsers ignore address changes beyond about two hundred in ten seconds.
const quiet = 300;

export interface TypedSearch {
  text: string;
  type: (text: string) => void;
  /** Writes the text to the address now, as Enter does. */
  settle: () => void;
}

/**
 * A search box whose text is in the address. Typing shows at once and reaches the address after a pause. An outside
 * change of the address, such as Back, wins.
 */
export function useTypedSearch(said: string, say: (text: string) => void): TypedSearch {
  const [{ text, known }, setState] = useState({ text: said, known: said });
  if (said !== known) setState({ text: said, known: said });
  const open = text !== said;
  // After back or forward, unfinished text belongs to the previous entry, even if the search is the same.
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
