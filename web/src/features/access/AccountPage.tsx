import { useEffect, useState, type SyntheticEvent } from 'react';
import { refreshSessions, useSession } from '../../api/queries';
import { changePassword } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import { Column, Page } from '../agents/Page';
import { complaint } from './complaint';
import { OwnSessions } from './Sessions';
import css from './TokensPage.module.css';

/** What is a person's own, whichever workspace they are in. */
export function AccountPage() {
  const { data } = useSession();
  useEffect(() => {
    document.title = 'Account · Atelier';
  }, []);
  return (
    <Page>
      <Column>
        <section className={css.section}>
          <h1>{data?.actor.name ?? 'Account'}</h1>
          {data?.actor.type === 'token' && (
            <p className={css.lead}>
              You are signed in with this token, which has no password. Its sessions end with it, on the page of tokens.
            </p>
          )}
          {data?.actor.type === 'user' && <Password />}
        </section>
        {data?.actor.type === 'user' && <OwnSessions />}
      </Column>
    </Page>
  );
}

function Password() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const task = useTask();
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    task.run(async () => {
      await changePassword(current, next).catch((error: unknown) => {
        throw complaint(error);
      });
      setCurrent('');
      setNext('');
      notify('done', 'The password is changed');
      await refreshSessions();
    });
  };
  return (
    <form className={css.narrow} onSubmit={submit}>
      <Field label="Present password" hint="Leave it empty if you have none yet.">
        {(control) => (
          <input
            {...control}
            type="password"
            autoComplete="current-password"
            value={current}
            onChange={(e) => setCurrent(e.target.value)}
          />
        )}
      </Field>
      <Field label="New password" hint="At least 12 characters. All your other sessions end.">
        {(control) => (
          <input
            {...control}
            type="password"
            autoComplete="new-password"
            value={next}
            onChange={(e) => setNext(e.target.value)}
          />
        )}
      </Field>
      <Fault message={task.fault} />
      <div>
        <Button type="submit" disabled={task.busy}>
          Change the password
        </Button>
      </div>
    </form>
  );
}
