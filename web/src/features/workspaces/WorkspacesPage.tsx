import { useEffect, useState } from 'react';
import { useSession, useWorkspaces } from '../../api/queries';
import type { Workspace } from '../../api/types';
import { ago } from '../../texts/format';
import { workspacesPage as say } from '../../texts/workspaces';
import { useEnterWorkspace } from '../../state/enterWorkspace';
import { Button } from '../../ui/Button';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { Column, Page } from '../../frame/Page';
import { CloseWorkspaceDialog } from './CloseWorkspaceDialog';
import { NewWorkspaceDialog } from './NewWorkspaceDialog';
import { QuotaDialog } from './QuotaDialog';

/** The workspaces of this server, for its administrators. Their contents are not accessible from here. */
export function WorkspacesPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const found = useWorkspaces();
  const [now] = useState(() => Date.now());
  const [making, setMaking] = useState(false);
  const workspaces = found.data ?? [];
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.workspaces}</h1>
              <p className={entries.lead}>{say.about}</p>
            </div>
            <Button look="primary" onClick={() => setMaking(true)}>
              {say.newWorkspace}
            </Button>
          </div>
          {found.isPending && <Waiting shape="rows" what={say.theWorkspaces} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          <ul className={entries.list} aria-label={say.workspaces}>
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
  const made = ago(createdAt, now);
  return (
    <li className={entries.row}>
      <div className={entries.about}>
        <strong>{title}</strong>
        <small>{role === undefined ? say.youAreNoMember(name, made) : say.youAre(name, made, role)}</small>
        {here && <small>{say.theServersOwn}</small>}
      </div>
      <div className={entries.acts}>
        {role !== undefined && !here && (
          <Button aria-label={say.enterNamed(title)} onClick={() => enter(name)}>
            {say.enter}
          </Button>
        )}
        <Button aria-label={say.quotasOf(title)} onClick={() => setAsked('quotas')}>
          {say.quotas}
        </Button>
        {!here && (
          <Button aria-label={say.closeNamed(title)} onClick={() => setAsked('close')}>
            {say.close}
          </Button>
        )}
      </div>
      {asked === 'quotas' && <QuotaDialog workspace={workspace} onClose={done} />}
      {asked === 'close' && <CloseWorkspaceDialog workspace={workspace} onClose={done} />}
    </li>
  );
}
