import { useEffect, useMemo, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { isMissing } from '../../api/http';
import { useFacts, usePins } from '../../api/queries';
import type { Agent } from '../../api/types';
import { notify } from '../../state/notices';
import { agentUrl, versionsUrl } from '../../state/urlState';
import { versionsPage as say } from '../../texts/versions';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import sheet from '../../ui/Sheet.module.css';
import { NotOpened } from '../../frame/NotOpened';
import { openFacts } from '../../agent/openAgent';
import { OpenAgentProvider } from '../../agent/OpenAgentProvider';
import { Column, Page } from '../../frame/Page';
import { useLifecycleCommands } from '../../agent/useLifecycleCommands';
import { About } from './About';
import { PinTable } from '../../agent/PinTable';
import { SavedDrafts } from './SavedDrafts';
import { VersionList } from './VersionList';

/** Shows the page with an agent's versions, references and lifecycle actions. */
export function VersionsPage({ name, dialogs }: { name: string; dialogs: ReactNode }) {
  const facts = useFacts(name);
  const [, navigate] = useLocation();
  useEffect(() => {
    document.title = say.pageTitle(name);
  }, [name]);
  const present = facts.data?.name;
  useEffect(() => {
    if (present === undefined || present === name) return;
    notify('done', say.isNow(name, present));
    navigate(versionsUrl(present), { replace: true });
  }, [present, name, navigate]);
  // If a refresh fails, the shown content stays.
  if (facts.isError && (facts.data === undefined || isMissing(facts.error)))
    return <NotOpened agentRef={name} error={facts.error} onRetry={() => void facts.refetch()} />;
  return (
    <Page current={name}>
      {facts.data ? (
        <Loaded agent={facts.data} dialogs={dialogs} />
      ) : (
        <Column back={{ to: agentUrl(name), label: name }}>
          <Waiting shape="page" what={name} retry />
        </Column>
      )}
    </Page>
  );
}

function Loaded({ agent, dialogs }: { agent: Agent; dialogs: ReactNode }) {
  const opened = useMemo(() => openFacts(agent), [agent]);
  useLifecycleCommands(opened, agent.listed);
  return (
    <OpenAgentProvider opened={opened}>
      <Column back={{ to: agentUrl(agent.name), label: agent.name }}>
        <About agent={agent} />
        <VersionList agent={agent} />
        <SavedDrafts agent={agent} />
        <Pins name={agent.name} />
      </Column>
      {dialogs}
    </OpenAgentProvider>
  );
}

function Pins({ name }: { name: string }) {
  const pins = usePins(name);
  return (
    <section className={sheet.section} aria-labelledby="pins">
      <h2 id="pins">{say.usedBy}</h2>
      <NotLoaded found={pins} why={say.notLoaded} />
      {pins.isPending && <Waiting shape="table" what={say.pins} retry />}
      {pins.data?.length === 0 && (
        <p className={sheet.quiet}>{say.none(<code>atelier pins put</code>, <code>PUT /api/v1/pins</code>)}</p>
      )}
      {pins.data && pins.data.length > 0 && <PinTable pins={pins.data} />}
    </section>
  );
}
