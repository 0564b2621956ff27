import { Monitor } from 'lucide-react';
import { useState } from 'react';
import { explain } from '../../api/http';
import { refreshSessions, useOwnSessions, useSession, useSessions } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { OpenSession } from '../../api/types';
import { endOwnSession, endSession } from '../../api/verbs';
import { notify } from '../../state/notices';
import { sessions as say } from '../../texts/access';
import { ago, day } from '../../texts/format';
import { Button } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { browserName } from './browserName';

type Whose = 'own' | 'all';

/**
 * Lists the browsers in which the user is signed in. For administrators it can list those of the whole workspace. A
 * token has no sessions.
 */
export function Sessions() {
  const user = useSession().data?.actor.type === 'user';
  const admin = useRights().may('admin');
  const [asked, setAsked] = useState<Whose>(user ? 'own' : 'all');
  if (!user && !admin) return null;
  return (
    <section className={entries.section}>
      <div className={entries.head}>
        <div>
          <h2>{say.sessions}</h2>
          <p className={entries.lead}>{say.lead}</p>
        </div>
        <div className={entries.acts}>
          {asked === 'own' && <SignOutOthers />}
          {user && admin && (
            <Choices
              label={say.whose}
              choices={[
                { value: 'own', label: say.own },
                { value: 'all', label: say.everybody },
              ]}
              value={asked}
              onChange={setAsked}
            />
          )}
        </div>
      </div>
      {asked === 'own' ? <OwnSessions /> : <AllSessions />}
    </section>
  );
}

function OwnSessions() {
  return <Shown found={useOwnSessions()} end={endOwnSession} />;
}

function AllSessions() {
  return <Shown found={useSessions()} end={endSession} people />;
}

interface Props {
  found: ReturnType<typeof useSessions>;
  end: (id: string) => Promise<unknown>;
  /** Whether the sessions belong to more than one person. */
  people?: boolean;
}

function Shown({ found, end, people = false }: Props) {
  const [now] = useState(() => Date.now());
  const sessions = found.data ?? [];
  return (
    <>
      {found.isPending && <Waiting shape="rows" what={say.theSessions} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && sessions.length === 0 && <p className={entries.lead}>{say.none}</p>}
      {sessions.length > 0 && (
        <DataTable
          label={say.sessions}
          items={sessions}
          columns={columnsOf(now, end).filter(({ key }) => people || key !== 'person')}
          rowKey={({ id }) => id}
          words={({ actor, address, browser }) => [actor.name, address, browserName(browser)].join(' ')}
          top={({ current }) => current}
        />
      )}
    </>
  );
}

const columnsOf = (now: number, end: Props['end']): TableColumn<OpenSession>[] => [
  {
    key: 'browser',
    title: say.browser,
    by: ({ browser }) => browserName(browser),
    cell: ({ browser, current }) => (
      <>
        <strong title={browser}>{browserName(browser)}</strong>
        {current && (
          <div>
            <StateMark look="ok" icon={Monitor}>
              {say.thisBrowser}
            </StateMark>
          </div>
        )}
      </>
    ),
  },
  { key: 'person', title: say.person, by: ({ actor }) => actor.name, cell: ({ actor }) => actor.name },
  { key: 'address', title: say.address, by: ({ address }) => address, cell: ({ address }) => address },
  {
    key: 'used',
    title: say.lastUse,
    by: ({ lastUsedAt }) => (lastUsedAt === undefined ? 0 : -Date.parse(lastUsedAt)),
    cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? say.never : ago(lastUsedAt, now)),
  },
  {
    key: 'made',
    title: say.signedIn,
    by: ({ createdAt }) => -Date.parse(createdAt),
    cell: ({ createdAt }) => ago(createdAt, now),
  },
  {
    key: 'ends',
    title: say.ends,
    by: ({ expiresAt }) => Date.parse(expiresAt),
    cell: ({ expiresAt }) => day(expiresAt),
  },
  { key: 'acts', title: say.actions, acts: true, cell: (session) => <SignOut session={session} end={end} /> },
];

/** Signs every other browser of the user out. */
function SignOutOthers() {
  const sessions = (useOwnSessions().data ?? []).filter(({ current }) => !current);
  const [asked, setAsked] = useState(false);
  const signOut = async (): Promise<void> => {
    try {
      await Promise.all(sessions.map(({ id }) => endOwnSession(id)));
      notify('done', say.signedOutOthers(sessions.length));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshSessions();
  };
  if (sessions.length < 2) return null;
  return (
    <>
      <Button ref={leaveFocus} onClick={() => setAsked(true)}>
        {say.signOutOthers}
      </Button>
      {asked && (
        <ConfirmDialog
          title={say.signOutOthersTitle(sessions.length)}
          about={say.signOutOthersAbout}
          verb={say.signOutVerb}
          onClose={() => setAsked(false)}
          onConfirm={() => void signOut()}
        />
      )}
    </>
  );
}

function SignOut({ session: { id, browser, current }, end }: { session: OpenSession; end: Props['end'] }) {
  const [asked, setAsked] = useState(false);
  const name = browserName(browser);
  const signOut = async (): Promise<void> => {
    try {
      await end(id);
      notify('done', say.signedOut(name));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshSessions();
  };
  if (current) return null;
  return (
    <>
      <Button ref={leaveFocus} aria-label={say.signOut(name)} onClick={() => setAsked(true)}>
        {say.signOutButton}
      </Button>
      {asked && (
        <ConfirmDialog
          title={say.signOutTitle(name)}
          about={say.signOutAbout}
          verb={say.signOutVerb}
          onClose={() => setAsked(false)}
          onConfirm={() => void signOut()}
        />
      )}
    </>
  );
}
