import { useEffect, useState } from 'react';

// Browsers ignore further changes of the URL after about two hundred in ten seconds.
const quiet = 300;

export interface TypedSearch {
  text: string;
  type: (text: string) => void;
  /** Writes the text to the URL immediately, for example when the user presses Enter. */
  settle: () => void;
}

/**
 * Manages a search field whose text is in the URL. The field shows typed text immediately, and the URL changes after a
 * pause. If the URL changes for another reason, such as Back, the field shows the text in the URL.
 */
export function useTypedSearch(said: string, say: (text: string) => void): TypedSearch {
  const [{ text, known }, setState] = useState({ text: said, known: said });
  if (said !== known) setState({ text: said, known: said });
  const open = text !== said;
  // After Back or Forward, unfinished text belongs to the previous entry of the history, even if both entries have the
  // same search.
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
