import { useSyncExternalStore } from 'react';
import { isReached, onReach } from '../api/reach';

function subscribe(changed: () => void): () => void {
  window.addEventListener('online', changed);
  window.addEventListener('offline', changed);
  const left = onReach(changed);
  return () => {
    window.removeEventListener('online', changed);
    window.removeEventListener('offline', changed);
    left();
  };
}

export type Connection = 'connected' | 'noNetwork' | 'notReached';

/** Whether the browser has a network, and whether the server answers. */
export const useConnection = (): Connection => useSyncExternalStore(subscribe, connection);

const connection = (): Connection => (!navigator.onLine ? 'noNetwork' : isReached() ? 'connected' : 'notReached');
