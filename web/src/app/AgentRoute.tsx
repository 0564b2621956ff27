// Loads the agent page at startup if the URL is that of an agent. It does not use Suspense, which shows a fallback for
// at least 300 ms.
import { useEffect, useState } from 'react';
import type { AgentPage } from '../workbench/AgentPage';
import { loadEditor } from '../editor/load';
import { Page } from '../frame/Page';
import { app as say } from '../texts/app';
import { Waiting } from '../ui/Waiting';
import { readRef } from '../state/urlState';

type Loaded = { Page: typeof AgentPage } | { error: unknown };

let here: Loaded | undefined;

/** Whether the URL is that of an agent in the editor. */
export const onAgentPage = (): boolean => /\/studio\/a\/[^/]+$/.test(window.location.pathname);

/** Loads the code of the page. It also resolves if loading fails; the page then shows the error. */
export async function loadAgentPage(): Promise<Loaded> {
  try {
    here = { Page: (await import('../workbench/AgentPage')).AgentPage };
    return here;
  } catch (error) {
    return { error };
  }
}
if (onAgentPage()) void loadAgentPage();

export function AgentRoute({ agentRef }: { agentRef: string }) {
  const [loaded, setLoaded] = useState(here);
  useEffect(() => {
    if (loaded) return;
    let gone = false;
    loadEditor().catch(() => undefined); // loads the editor in parallel with the page; the editor pane shows an error
    void loadAgentPage().then((now) => !gone && setLoaded(now));
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
