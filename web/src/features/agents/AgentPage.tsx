import { useEffect, useMemo, useSyncExternalStore, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../../api/http';
import { useAgent, useVersion } from '../../api/queries';
import type { Agent } from '../../api/types';
import { Brand, Grow, HeaderTools } from '../../app/Brand';
import { showDialog } from '../../app/dialogs';
import { ServerStatus } from '../../app/StatusLine';
import { readRef } from '../../app/urlState';
import { Workbench } from '../../app/Workbench';
import { Button } from '../../ui/Button';
import { Empty, Waiting } from '../../ui/Empty';
import { AgentsPanel } from './AgentsPanel';
import { AgentWorkbench } from './AgentWorkbench';
import { OpenAgentProvider, openDraft, openVersion, type Opened } from './openAgent';
import type { DraftSession } from './session';
import { useDraftSession } from './useDraftSession';
import { useSchemaTexts } from './useSchemaTexts';

/** One agent: its draft, or with a version in the address that version. */
export function AgentPage({ agentRef }: { agentRef: string }) {
  const { name, version } = readRef(agentRef);
  const agent = useAgent(name);
  useEffect(() => {
    document.title = `${agentRef} · Atelier Studio`;
  }, [agentRef]);
  if (agent.data) {
    return version === undefined ? (
      <DraftPage agent={agent.data} />
    ) : (
      <VersionPage agent={agent.data} version={version} />
    );
  }
  if (agent.isError) return <NotOpened agentRef={agentRef} error={agent.error} onRetry={() => void agent.refetch()} />;
  return (
    <Frame name={name}>
      <Waiting what={name} onRetry={() => void agent.refetch()} />
    </Frame>
  );
}

function DraftPage({ agent }: { agent: Agent }) {
  const session = useDraftSession(agent);
  return session ? <Draft key={agent.id} session={session} /> : <Frame name={agent.name}>{null}</Frame>;
}

function Draft({ session }: { session: DraftSession }) {
  const view = useSyncExternalStore(session.subscribe, session.get);
  return <OpenPage opened={useMemo(() => openDraft(session, view), [session, view])} />;
}

function VersionPage({ agent, version }: { agent: Agent; version: string }) {
  const shown = useVersion(agent.name, version);
  const opened = useMemo(() => (shown.data ? openVersion(agent, shown.data) : undefined), [agent, shown.data]);
  if (opened) return <OpenPage opened={opened} />;
  if (shown.isError) {
    return <NotOpened agentRef={`${agent.name}@${version}`} error={shown.error} onRetry={() => void shown.refetch()} />;
  }
  return (
    <Frame name={agent.name}>
      <Waiting what={`${agent.name}@${version}`} onRetry={() => void shown.refetch()} />
    </Frame>
  );
}

function OpenPage({ opened }: { opened: Opened }) {
  const schemas = useSchemaTexts(opened);
  return (
    <OpenAgentProvider value={{ ...opened, ...schemas }}>
      <AgentWorkbench />
    </OpenAgentProvider>
  );
}

function NotOpened({ agentRef, error, onRetry }: { agentRef: string; error: Error; onRetry: () => void }) {
  const [, navigate] = useLocation();
  const { name, version } = readRef(agentRef);
  const missing = error instanceof ApiError && error.status === 404;
  const home = <Button onClick={() => navigate('/')}>All agents</Button>;
  return (
    <Frame name={name}>
      {missing ? (
        <Empty
          actions={
            <>
              {version === undefined && (
                <Button look="primary" onClick={() => showDialog({ kind: 'new', name })}>
                  Create it
                </Button>
              )}
              {home}
            </>
          }
        >
          There is no {version === undefined ? 'agent' : 'version'} <strong>{agentRef}</strong>.
        </Empty>
      ) : (
        <Empty
          actions={
            <>
              <Button onClick={onRetry}>Try again</Button>
              {home}
            </>
          }
        >
          {agentRef} could not be opened. {error.message}
        </Empty>
      )}
    </Frame>
  );
}

/** The frame around a page that has no agent to show. */
function Frame({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Workbench
      header={
        <>
          <Brand />
          <Grow />
          <HeaderTools />
        </>
      }
      left={
        <div style={{ display: 'flex', height: '100%' }}>
          <AgentsPanel current={name} />
        </div>
      }
      main={children}
      status={<ServerStatus />}
    />
  );
}
