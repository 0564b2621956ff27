import { useEffect, useState, type SyntheticEvent } from 'react';
import { refreshSessions, useSession } from '../../api/queries';
import { changePassword } from '../../api/verbs';
import { notify } from '../../state/notices';
import { accountPage as say, roleNames } from '../../texts/access';
import { Avatar } from '../../ui/Avatar';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import entries from '../../ui/Entries.module.css';
import { Column, Page } from '../../frame/Page';
import type { Role } from '../../api/types';
import { complaint } from './complaint';
import { roleIcons } from './roles';
import { Sessions } from './Sessions';
import css from './TokensPage.module.css';

/** Shows the signed-in person, a form for the password, and the person's sessions. */
export function AccountPage() {
  const { data } = useSession();
  const role = data?.workspaces.find(({ id }) => id === data.workspace.id)?.role;
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div>
            <h1>{say.account}</h1>
            {data?.actor.type === 'token' && <p className={entries.lead}>{say.signedInWithAToken}</p>}
          </div>
          {data && (
            <div className={css.profile}>
              <Avatar name={data.actor.name} large />
              <dl className={css.profileFacts}>
                <div>
                  <dt>{say.name}</dt>
                  <dd>{data.actor.name}</dd>
                </div>
                <div>
                  <dt>{say.workspace}</dt>
                  <dd>{data.workspace.title}</dd>
                </div>
                {role !== undefined && (
                  <div>
                    <dt>{say.role}</dt>
                    <dd>
                      <RoleMark role={role} />
                    </dd>
                  </div>
                )}
              </dl>
            </div>
          )}
        </section>
        {data?.actor.type === 'user' && (
          <section className={entries.section}>
            <div>
              <h2>{say.password}</h2>
              <p className={entries.lead}>{say.passwordLead}</p>
            </div>
            <Password />
          </section>
        )}
        <Sessions />
      </Column>
    </Page>
  );
}

function RoleMark({ role }: { role: Role }) {
  const Icon = roleIcons[role];
  return (
    <span className={css.role}>
      <Icon size={14} aria-hidden />
      {roleNames[role]}
    </span>
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
        throw complaint(error, ['/current', '/new']);
      });
      setCurrent('');
      setNext('');
      notify('done', say.passwordIsChanged);
      await refreshSessions();
    });
  };
  return (
    <form className={css.password} onSubmit={submit}>
      <div className={css.pair}>
        <TextField
          label={say.currentPassword}
          error={task.at('/current')}
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={setCurrent}
        />
        <TextField
          label={say.newPassword}
          hint={say.newPasswordHint}
          error={task.at('/new')}
          type="password"
          autoComplete="new-password"
          value={next}
          onChange={setNext}
        />
      </div>
      <Fault message={task.fault} />
      <div>
        <Button look="primary" type="submit" disabled={task.busy}>
          {say.changeThePassword}
        </Button>
      </div>
    </form>
  );
}
