import { SearchX, Trash2, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { isMissing } from '../api/http';
import { useAgentListing } from '../api/listing';
import { useRights } from '../api/rights';
import { showDialog } from '../state/dialogs';
import { notOpened as say } from '../texts/agents';
import { ago } from '../texts/format';
import { agentUrl, readRef } from '../state/urlState';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { Retry } from '../ui/Retry';
import { restore } from '../agent/restore';
import css from './NotOpened.module.css';
import { Page } from './Page';
import { similar } from './similar';

/** Explains why an agent or version cannot be shown, and offers actions. */
export function NotOpened({ agentRef, error, onRetry }: { agentRef: string; error: Error; onRetry: () => void }) {
  const [, navigate] = useLocation();
  const { name, version } = readRef(agentRef);
  const home = <Button onClick={() => navigate('/')}>{say.allAgents}</Button>;
  const missing = isMissing(error);
  return (
    <Page current={name}>
      {missing && version === undefined ? (
        <Missing name={name} />
      ) : (
        <Empty
          icon={missing ? SearchX : TriangleAlert}
          title={missing ? say.versionNotFound : say.couldNotOpen}
          actions={
            <>
              {missing ? (
                <Button onClick={() => navigate(agentUrl(name))}>{say.openTheDraft}</Button>
              ) : (
                <Retry onRetry={onRetry} />
              )}
              {home}
            </>
          }
        >
          {missing ? <>{say.thereIsNoVersion(<strong>{agentRef}</strong>)}</> : say.notOpened(agentRef, error.message)}
        </Empty>
      )}
    </Page>
  );
}

/**
 * If the name is free, the user can create an agent with this name. If the agent was deleted, the user can restore it.
 */
function Missing({ name }: { name: string }) {
  const [, navigate] = useLocation();
  const [now] = useState(() => Date.now());
  const { may } = useRights();
  const deleted = useAgentListing({ state: 'deleted', search: name });
  const gone = deleted.kind === 'loaded' ? deleted.items.find((agent) => agent.name === name) : undefined;
  const home = <Button onClick={() => navigate('/')}>{say.allAgents}</Button>;
  if (gone) {
    const { by = '', comment = '' } = gone.deletion ?? {};
    return (
      <Empty
        icon={Trash2}
        title={say.deletedAgent}
        actions={
          <>
            {may('write') && (
              <Button look="primary" onClick={() => void restore(gone.id)}>
                {say.restoreIt}
              </Button>
            )}
            {home}
          </>
        }
      >
        {say.wasDeleted(<strong>{name}</strong>, ago(gone.deletedAt ?? '', now), by, comment)}
      </Empty>
    );
  }
  return (
    <Empty
      icon={SearchX}
      title={say.agentNotFound}
      more={<Similar name={name} />}
      actions={
        <>
          {may('write') && (
            <Button look="primary" onClick={() => showDialog({ kind: 'new', name })}>
              {say.createIt}
            </Button>
          )}
          {home}
        </>
      }
    >
      {say.thereIsNoAgent(<strong>{name}</strong>)}
    </Empty>
  );
}

/** Lists agents of the workspace whose names are similar to the requested name. */
function Similar({ name }: { name: string }) {
  const listing = useAgentListing({ order: 'updated' });
  const names = listing.kind === 'loaded' ? listing.items.map((agent) => agent.name) : [];
  const found = similar(name, names);
  if (found.length === 0) return null;
  return (
    <nav className={css.similar} aria-label={say.similar}>
      <span>{say.similar}</span>
      {found.map((one) => (
        <Link key={one} href={agentUrl(one)}>
          {one}
        </Link>
      ))}
    </nav>
  );
}
