import { memo, useEffect, useMemo, useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';
import { keys, queryClient, useAgent, useVersion } from '../api/queries';
import { useRights } from '../api/rights';
import type { Agent } from '../api/types';
import { notify } from '../state/notices';
import { agentUrl, readRef } from '../state/urlState';
import { agentPage as say } from '../texts/agents';
import { Waiting } from '../ui/Waiting';
import { AgentWorkbench } from './AgentWorkbench';
import { NotOpened } from '../frame/NotOpened';
import { openDraft, openFacts, openVersion, type Opened } from '../agent/openAgent';
import { OpenAgentProvider } from '../agent/OpenAgentProvider';
import { Page } from '../frame/Page';
import type { DraftSession } from '../draft/session';
import { useDraftSession } from '../draft/useDraftSession';

/** Shows the page of an agent: its draft, or the version in the URL. */
export function AgentPage({ agentRef }: { agentRef: string }) {
  const { name, version } = readRef(agentRef);
  const agent = useAgent(name, version);
  useEffect(() => {
    document.title = say.pageTitle(agentRef);
  }, [agentRef]);
  const present = useRedirect(agent.data, name, version);
  const { may } = useRights();
  if (agent.data && present) {
    return version === undefined ? (
      may('write') ? (
        <DraftPage agent={agent.data} />
      ) : (
        <ReadPage agent={agent.data} />
      )
    ) : (
      <VersionPage agent={agent.data} version={version} />
    );
  }
  if (agent.isError) return <NotOpened agentRef={agentRef} error={agent.error} onRetry={() => void agent.refetch()} />;
  return (
    <Page current={name}>
      <Waiting shape="code" what={name} retry />
    </Page>
  );
}

/**
 * Redirects from a former name or an ID to the current name. For a former name it shows a notice. Returns false until
 * the redirect is done.
 */
function useRedirect(agent: Agent | undefined, name: string, version: string | undefined): boolean {
  const [, navigate] = useLocation();
  const elsewhere = agent !== undefined && agent.name !== name;
  useEffect(() => {
    if (!elsewhere) return;
    if (name !== agent.id) notify('done', say.isNow(name, agent.name));
    queryClient.setQueryData((version === undefined ? keys.agent : keys.facts)(agent.name), agent);
    navigate(agentUrl(agent.name, version) + location.search, { replace: true });
  }, [elsewhere, agent, name, version, navigate]);
  return !elsewhere;
}

function DraftPage({ agent }: { agent: Agent }) {
  const session = useDraftSession(agent);
  return session ? <Draft key={agent.id} session={session} /> : <Page current={agent.name}>{null}</Page>;
}

function Draft({ session }: { session: DraftSession }) {
  const view = useSyncExternalStore(session.subscribe, session.get);
  return <OpenPage opened={useMemo(() => openDraft(session, view), [session, view])} />;
}

/** Shows the draft to users who may not change it. */
function ReadPage({ agent }: { agent: Agent }) {
  return <OpenPage opened={useMemo(() => openFacts(agent), [agent])} />;
}

function VersionPage({ agent, version }: { agent: Agent; version: string }) {
  const shown = useVersion(agent.name, version);
  const opened = useMemo(() => (shown.data ? openVersion(agent, shown.data) : undefined), [agent, shown.data]);
  if (opened) return <OpenPage opened={opened} />;
  if (shown.isError) {
    return <NotOpened agentRef={`${agent.name}@${version}`} error={shown.error} onRetry={() => void shown.refetch()} />;
  }
  return (
    <Page current={agent.name}>
      <Waiting shape="code" what={`${agent.name}@${version}`} retry />
    </Page>
  );
}

function OpenPage({ opened }: { opened: Opened }) {
  return (
    <OpenAgentProvider opened={opened}>
      <Screen />
    </OpenAgentProvider>
  );
}

const Screen = memo(AgentWorkbench);
