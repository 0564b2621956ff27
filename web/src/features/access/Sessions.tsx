import { useState } from 'react';
import { explain } from '../../api/http';
import { refreshSessions, useOwnSessions, useSessions } from '../../api/queries';
import type { OpenSession } from '../../api/types';
import { endOwnSession, endSession } from '../../api/verbs';
import { ago } from '../../texts/format';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { Waiting } from '../../ui/Empty';
import field from '../../ui/Field.module.css';
import { browserName } from './browserName';
import css from './TokensPage.module.css';

/** Which browsers of the workspace are signed in, and a way to sign another one out. */
export function Sessions() {
  return <Shown found={useSessions()} end={endSession} />;
}

/** Where a person is signed in themselves. */
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
    <section className={css.section}>
      <div>
        <h2>Sessions</h2>
        <p className={css.lead}>Browsers that are signed in. A session lasts 30 days, or as long as its token.</p>
      </div>
      {found.isPending && <Waiting what="the sessions" onRetry={() => void found.refetch()} />}
      {found.isError && (
        <p role="alert" className={field.failed}>
          The sessions could not be loaded. {found.error.message}
        </p>
      )}
      {found.isSuccess && sessions.length === 0 && <p className={css.lead}>No browser is signed in.</p>}
      {sessions.length > 0 && (
        <ul className={css.list} aria-label="Sessions">
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
      notify('done', `Signed ${name} out`);
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshSessions();
  };
  const used = lastUsedAt === undefined ? 'never used' : `used ${ago(lastUsedAt, now)}`;
  const facts = [actor.name, address, used, `signed in ${ago(createdAt, now)}`, `ends ${expiresAt.slice(0, 10)}`];
  return (
    <li className={css.row}>
      <div className={css.about}>
        <strong title={browser}>{name}</strong>
        <small>{facts.filter((fact) => fact !== '').join(' · ')}</small>
        {current && <small>This browser</small>}
      </div>
      {!current && (
        <Button aria-label={`Sign out ${name}`} onClick={() => setAsked(true)}>
          Sign out…
        </Button>
      )}
      {asked && (
        <ConfirmDialog
          title={`Sign ${name} out?`}
          about="It has to sign in again before it sees anything else. What is unsaved stays in that browser."
          verb="Sign out"
          onClose={() => setAsked(false)}
          onConfirm={() => void signOut()}
        />
      )}
    </li>
  );
}
