import { useEffect, useState } from 'react';
import { draftLeft } from '../api/leaving';
import type { Agent } from '../api/types';
import { notify } from '../state/notices';
import { useDraftSession as say } from '../texts/agents';
import { browserEnvironment, storedDraft } from './browserEnvironment';
import { DraftSession } from './session';
import { draftOpened } from './openSession';

/** Opens a draft session while the component is shown. When it is closed, unsaved edits are saved. */
export function useDraftSession(agent: Agent): DraftSession | undefined {
  const [session, setSession] = useState<DraftSession>();
  useEffect(() => {
    const opened = new DraftSession(agent, browserEnvironment, storedDraft(agent.id));
    setSession(opened);
    if (opened.restored) {
      notify('done', say.editsThatHadNot, {
        label: say.discardThem,
        run: () => opened.dropRestored(),
      });
    }
    const closed = draftOpened(agent.id, opened);
    const look = (): void => {
      if (document.visibilityState === 'visible') void opened.check();
    };
    window.addEventListener('focus', look);
    document.addEventListener('visibilitychange', look);
    return () => {
      window.removeEventListener('focus', look);
      document.removeEventListener('visibilitychange', look);
      closed();
      const { id, about } = opened.get();
      draftLeft(
        [id, about.name],
        opened.flush().finally(() => opened.dispose()),
      );
    };
  }, [agent]);
  return session;
}
