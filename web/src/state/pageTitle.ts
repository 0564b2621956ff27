import { useSyncExternalStore } from 'react';

const subscribe = (changed: () => void): (() => void) => {
  const observer = new MutationObserver(changed);
  observer.observe(document.head, { childList: true, characterData: true, subtree: true });
  return () => observer.disconnect();
};

/** The first part of the title of the window, which names the page. */
const read = (): string => document.title.split(' · ')[0] ?? '';

export const usePageTitle = (): string => useSyncExternalStore(subscribe, read);
