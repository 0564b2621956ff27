// Loads the agent page at startup, because most visits end there. It does not use Suspense, which keeps a fallback on
// screen for at least 300 ms.
import { useEffect, useState } from 'react';
import type { AgentPage } from '../workbench/AgentPage';
import { Page } from '../frame/Page';
import { app as say } from '../texts/app';
import { Waiting } from '../ui/Waiting';
import { readRef } from '../state/urlState';

type Loaded = { Page: typeof AgentPage } | { error: unknown };

let here: Loaded | undefined;

/** Also resolves if loading fails. The page then shows the error. */
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
