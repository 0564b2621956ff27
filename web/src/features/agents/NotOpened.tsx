import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../../api/http';
import { useAgentListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import { showDialog } from '../../app/dialogs';
import { ago } from '../../app/format';
import { agentUrl, readRef } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { undelete } from './DeleteAgentDialog';
import { Page } from './Page';

/** Says why an agent or a version cannot be shown, and what can be done about it. */
export function NotOpened({ agentRef, error, onRetry }: { agentRef: string; error: Error; onRetry: () => void }) {
  const [, navigate] = useLocation();
  const { name, version } = readRef(agentRef);
  const home = <Button onClick={() => navigate('/')}>All agents</Button>;
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <Page current={name}>
      {missing && version === undefined ? (
        <Missing name={name} />
      ) : (
        <Empty
          actions={
            <>
              {missing ? (
                <Button onClick={() => navigate(agentUrl(name))}>Open the draft</Button>
              ) : (
                <Button onClick={onRetry}>Try again</Button>
              )}
              {home}
            </>
          }
        >
          {missing ? (
            <>
              There is no version <strong>{agentRef}</strong>.
            </>
          ) : (
            `${agentRef} could not be opened. ${error.message}`
          )}
        </Empty>
      )}
    </Page>
  );
}

/** A name that nobody has can be taken; that of a deleted agent only be brought back. */
function Missing({ name }: { name: string }) {
  const [, navigate] = useLocation();
  const [now] = useState(() => Date.now());
  const { may } = useRights();
  const deleted = useAgentListing({ state: 'deleted', search: name });
  const gone = deleted.kind === 'loaded' ? deleted.items.find((agent) => agent.name === name) : undefined;
  const home = <Button onClick={() => navigate('/')}>All agents</Button>;
  if (gone) {
    const { by = '', comment = '' } = gone.deletion ?? {};
    return (
      <Empty
        actions={
          <>
            {may('write') && (
              <Button look="primary" onClick={() => void undelete(gone.id)}>
                Bring it back
              </Button>
            )}
            {home}
          </>
        }
      >
        <strong>{name}</strong> was deleted {ago(gone.deletedAt ?? '', now)}
        {by !== '' && ` by ${by}`}
        {comment === '' ? '.' : `: ${comment}`}
      </Empty>
    );
  }
  return (
    <Empty
      actions={
        <>
          {may('write') && (
            <Button look="primary" onClick={() => showDialog({ kind: 'new', name })}>
              Create it
            </Button>
          )}
          {home}
        </>
      }
    >
      There is no agent <strong>{name}</strong>.
    </Empty>
  );
}
