import { useEffect, useState } from 'react';
import { useSession, useWorkspaces } from '../../api/queries';
import type { Workspace } from '../../api/types';
import { ago } from '../../texts/format';
import { useEnterWorkspace } from '../../app/enterWorkspace';
import { Button } from '../../ui/Button';
import { Waiting } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { Column, Page } from '../agents/Page';
import { CloseWorkspaceDialog } from './CloseWorkspaceDialog';
import { NewWorkspaceDialog } from './NewWorkspaceDialog';
import { QuotaDialog } from './QuotaDialog';
import css from './WorkspacesPage.module.css';

/** The tenants of this server, for who runs it: none of them is seen into from here. */
export function WorkspacesPage() {
  useEffect(() => {
    document.title = 'Workspaces · Atelier';
  }, []);
  const found = useWorkspaces();
  const [now] = useState(() => Date.now());
  const [making, setMaking] = useState(false);
  const workspaces = found.data ?? [];
  return (
    <Page>
      <Column>
        <section className={css.section}>
          <div className={css.head}>
            <div>
              <h1>Workspaces</h1>
              <p className={css.lead}>
                Each has its own people, agents, runs, secrets and tokens, and sees nothing of the others. Whoever runs
                the server makes and closes them, and says what each may take.
              </p>
            </div>
            <Button look="primary" onClick={() => setMaking(true)}>
              New workspace…
            </Button>
          </div>
          {found.isPending && <Waiting what="the workspaces" onRetry={() => void found.refetch()} />}
          <Fault message={found.isError ? `The workspaces could not be loaded. ${found.error.message}` : undefined} />
          <ul className={css.list} aria-label="Workspaces">
            {workspaces.map((workspace) => (
              <Row key={workspace.id} workspace={workspace} now={now} />
            ))}
          </ul>
        </section>
      </Column>
      {making && <NewWorkspaceDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}

function Row({ workspace, now }: { workspace: Workspace; now: number }) {
  const { id, name, title, createdAt } = workspace;
  const [asked, setAsked] = useState<'quotas' | 'close'>();
  const session = useSession();
  const enter = useEnterWorkspace();
  const here = session.data?.workspace.id === id;
  const role = session.data?.workspaces.find((one) => one.id === id)?.role;
  const done = (): void => setAsked(undefined);
  const facts = [name, `made ${ago(createdAt, now)}`, role === undefined ? 'you are no member' : `you are ${role}`];
  return (
    <li className={css.row}>
      <div className={css.about}>
        <strong>{title}</strong>
        <small>{facts.join(' · ')}</small>
        {here && <small>The server’s own, where you are now</small>}
      </div>
      <div className={css.acts}>
        {role !== undefined && !here && (
          <Button aria-label={`Enter ${title}`} onClick={() => enter(name)}>
            Enter
          </Button>
        )}
        <Button aria-label={`Quotas of ${title}`} onClick={() => setAsked('quotas')}>
          Quotas…
        </Button>
        {!here && (
          <Button aria-label={`Close ${title}`} onClick={() => setAsked('close')}>
            Close…
          </Button>
        )}
      </div>
      {asked === 'quotas' && <QuotaDialog workspace={workspace} onClose={done} />}
      {asked === 'close' && <CloseWorkspaceDialog workspace={workspace} onClose={done} />}
    </li>
  );
}
