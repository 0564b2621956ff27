import { MapPin } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useSession, useWorkspaces } from '../../api/queries';
import type { Role, Workspace } from '../../api/types';
import { roleNames } from '../../texts/access';
import { ago } from '../../texts/format';
import { workspacesPage as say } from '../../texts/workspaces';
import { useEnterWorkspace } from '../../state/enterWorkspace';
import { Button } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { Column, Page } from '../../frame/Page';
import { CloseWorkspaceDialog } from './CloseWorkspaceDialog';
import { NewWorkspaceDialog } from './NewWorkspaceDialog';
import { QuotaDialog } from './QuotaDialog';

/** Lists the workspaces of this server for server administrators. This page gives no access to their contents. */
export function WorkspacesPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const found = useWorkspaces();
  const [now] = useState(() => Date.now());
  const [making, setMaking] = useState(false);
  const workspaces = found.data ?? [];
  const session = useSession();
  const roleIn: RoleIn = ({ id }) => session.data?.workspaces.find((one) => one.id === id)?.role;
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
          {workspaces.length > 0 && (
            <DataTable
              label={say.workspaces}
              items={workspaces}
              columns={columnsOf(now, roleIn)}
              rowKey={({ id }) => id}
              words={({ name, title }) => `${name} ${title}`}
            />
          )}
        </section>
      </Column>
      {making && <NewWorkspaceDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}

type RoleIn = (workspace: Workspace) => Role | undefined;

const columnsOf = (now: number, roleIn: RoleIn): TableColumn<Workspace>[] => [
  { key: 'title', title: say.title, by: ({ title }) => title, cell: (workspace) => <About workspace={workspace} /> },
  { key: 'name', title: say.name, by: ({ name }) => name, cell: ({ name }) => <code>{name}</code> },
  {
    key: 'role',
    title: say.yourRole,
    by: (workspace) => roleIn(workspace) ?? '',
    cell: (workspace) => {
      const role = roleIn(workspace);
      return role === undefined ? say.notAMember : roleNames[role];
    },
  },
  {
    key: 'made',
    title: say.made,
    by: ({ createdAt }) => -Date.parse(createdAt),
    cell: ({ createdAt }) => ago(createdAt, now),
  },
  {
    key: 'acts',
    title: say.actions,
    acts: true,
    cell: (workspace) => <Actions workspace={workspace} member={roleIn(workspace) !== undefined} />,
  },
];

function About({ workspace: { id, title } }: { workspace: Workspace }) {
  const here = useSession().data?.workspace.id === id;
  return (
    <>
      <strong>{title}</strong>
      {here && (
        // This page opens only in the default workspace of the server.
        <div>
          <StateMark look="ok" icon={MapPin}>
            {say.youAreHere}
          </StateMark>
          <small>{say.theServersOwn}</small>
        </div>
      )}
    </>
  );
}

function Actions({ workspace, member }: { workspace: Workspace; member: boolean }) {
  const { id, name, title } = workspace;
  const [asked, setAsked] = useState<'quotas' | 'close'>();
  const enter = useEnterWorkspace();
  const here = useSession().data?.workspace.id === id;
  const done = (): void => setAsked(undefined);
  return (
    <div>
      {member && !here && (
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
      {asked === 'quotas' && <QuotaDialog workspace={workspace} onClose={done} />}
      {asked === 'close' && <CloseWorkspaceDialog workspace={workspace} onClose={done} />}
    </div>
  );
}
