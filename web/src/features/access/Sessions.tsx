import { useState } from 'react';
import { explain } from '../../api/http';
import { refreshSessions, useOwnSessions, useSessions } from '../../api/queries';
import type { OpenSession } from '../../api/types';
import { endOwnSession, endSession } from '../../api/verbs';
import { notify } from '../../state/notices';
import { sessions as say } from '../../texts/access';
import { ago, day } from '../../texts/format';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { browserName } from './browserName';

/** Lists the signed-in browsers of the workspace and signs them out. */
export function Sessions() {
  return <Shown found={useSessions()} end={endSession} />;
}

/** The sessions of the current user. */
export function OwnSessions() {
  return <Shown found={useOwnSessions()} end={endOwnSession} />;
}

interface Props {
  found: ReturnType<typeof useSessions>;
  end: (id: string) => Promise<unknown>;
}

function Shown({ found, end }: Props) {
  const [now] = useState(() => Date.now());
  const sessions = found.data ?? [];
  return (
    <section className={entries.section}>
      <div>
        <h2>{say.sessions}</h2>
        <p className={entries.lead}>{say.lead}</p>
      </div>
      {found.isPending && <Waiting shape="rows" what={say.theSessions} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && sessions.length === 0 && <p className={entries.lead}>{say.none}</p>}
      {sessions.length > 0 && (
        <ul className={entries.list} aria-label={say.sessions}>
          {sessions.map((session) => (
            <Row key={session.id} session={session} now={now} end={end} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ session, now, end }: { session: OpenSession; now: number; end: Props['end'] }) {
  const { id, actor, address, browser, current, createdAt, lastUsedAt, expiresAt } = session;
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
  const used = lastUsedAt === undefined ? say.neverUsed : say.used(ago(lastUsedAt, now));
  const facts = [actor.name, address, used, say.signedIn(ago(createdAt, now)), say.ends(day(expiresAt))];
  return (
    <li className={entries.row}>
      <div className={entries.about}>
        <strong title={browser}>{name}</strong>
        <small>{facts.filter((fact) => fact !== '').join(' · ')}</small>
        {current && <small>{say.thisBrowser}</small>}
      </div>
      {!current && (
        <Button ref={leaveFocus} aria-label={say.signOut(name)} onClick={() => setAsked(true)}>
          {say.signOutButton}
        </Button>
      )}
      {asked && (
        <ConfirmDialog
          title={say.signOutTitle(name)}
          about={say.signOutAbout}
          verb={say.signOutVerb}
          onClose={() => setAsked(false)}
          onConfirm={() => void signOut()}
        />
      )}
    </li>
  );
}
