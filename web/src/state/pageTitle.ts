import { useSyncExternalStore } from 'react';

const subscribe = (changed: () => void): (() => void) => {
  const observer = new MutationObserver(changed);
  observer.observe(document.head, { childList: true, characterData: true, subtree: true });
  return () => observer.disconnect();
};

/** The first part of the title of the window, which names the page. Before the page has loaded there is none. */
const read = (): string => {
  const [page = '', ...product] = document.title.split(' · ');
  return product.length === 0 ? '' : page;
};

export const usePageTitle = (): string => useSyncExternalStore(subscribe, read);
