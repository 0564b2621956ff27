// The page of an agent, where most visits end: its code is on its way from the start. It is waited for without Suspense,
// which keeps a fallback on the screen for 300 ms once it has shown it.
import { useEffect, useState } from 'react';
import type { AgentPage } from '../workbench/AgentPage';
import { Page } from '../frame/Page';
import { app as say } from '../texts/app';
import { Waiting } from '../ui/Waiting';
import { readRef } from '../state/urlState';

type Loaded = { Page: typeof AgentPage } | { error: unknown };

let here: Loaded | undefined;

/** Resolves also when the code could not be loaded: that is told where the page is shown. */
async function load(): Promise<Loaded> {
  try {
    here = { Page: (await import('../workbench/AgentPage')).AgentPage };
    return here;
  } catch (error) {
    return { error };
  }
}
export const agentPage = load();

export function AgentRoute({ agentRef }: { agentRef: string }) {
  const [loaded, setLoaded] = useState(here);
  useEffect(() => {
    if (loaded) return;
    let gone = false;
    void load().then((now) => !gone && setLoaded(now));
    return () => {
      gone = true;
    };
  }, [loaded]);
  if (!loaded) {
    return (
      <Page current={readRef(agentRef).name}>
        <Waiting shape="code" what={say.theAgent} />
      </Page>
    );
  }
  if ('error' in loaded) throw loaded.error;
  return <loaded.Page agentRef={agentRef} />;
}
