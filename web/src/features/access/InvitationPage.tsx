import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type SyntheticEvent } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../../api/http';
import { useSession } from '../../api/queries';
import { acceptInvitation, readInvitation } from '../../api/verbs';
import { Mark } from '../../frame/Brand';
import css from '../../frame/SignIn.module.css';
import { invitationPage as say } from '../../texts/access';
import { Button } from '../../ui/Button';
import { Waiting } from '../../ui/Waiting';
import { Fault } from '../../ui/Fault';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { useTask, type Task } from '../../ui/useTask';
import { complaint } from './complaint';
import { roleIcons, roles } from './roles';

/** Shows the page of an invitation link. It immediately removes the secret after the # from the URL. */
export function InvitationPage() {
  const [secret] = useState(() => location.hash.slice(1));
  useEffect(() => {
    document.title = say.pageTitle;
    history.replaceState(history.state, '', location.pathname);
  }, []);
  const invited = useQuery({ queryKey: ['invited'], queryFn: () => readInvitation(secret), retry: false, gcTime: 0 });
  return (
    <main className={css.page}>
      <div className={css.card}>
        <div className={css.brand}>
          <Mark size={32} />
          <h1>{invited.data ? say.joinThe(invited.data.workspace) : say.invitation}</h1>
          {invited.data && (
            <p>
              {say.invited(
                invited.data.invitedBy,
                <strong>{invited.data.workspace}</strong>,
                <strong>{invited.data.role}</strong>,
              )}
            </p>
          )}
        </div>
        {secret === '' && <Fault message={say.linkIsNotWhole} />}
        {secret !== '' && invited.isError && <Unread found={invited} />}
        {(secret === '' || invited.isError) && <WayOn />}
        {secret !== '' && invited.isPending && <Waiting shape="text" what={say.theInvitation} retry />}
        {invited.data && (
          <>
            <RoleCard role={invited.data.role} />
            <Join secret={secret} />
          </>
        )}
      </div>
    </main>
  );
}

/** Describes the rights of the offered role. */
function RoleCard({ role }: { role: string }) {
  const known = roles.find(([name]) => name === role);
  if (!known) return null;
  const [name] = known;
  const Icon = roleIcons[name];
  return (
    <dl className={css.facts}>
      <div>
        <Icon size={16} aria-hidden />
        <dt>{name}</dt>
        <dd>{say.may[name]}</dd>
      </div>
    </dl>
  );
}

/**
 * An invalid link stays invalid. After any other error the page keeps the secret for another attempt, because the URL
 * no longer contains it.
 */
function Unread({ found }: { found: UseQueryResult }) {
  const { error } = found;
  const refused = error instanceof ApiError && error.status < 500 && error.status !== 429;
  if (refused) return <Fault message={error.message} />;
  return <NotLoaded found={found} why={(reason) => reason} />;
}

/** If the link cannot be used, the user may already be a member. */
function WayOn() {
  const session = useSession();
  if (session.isPending) return null;
  return (
    <>
      {!session.data && <p>{say.mayBeAMember}</p>}
      <Link href="/">{session.data ? say.openTheStudio : say.signIn}</Link>
    </>
  );
}

function Join({ secret }: { secret: string }) {
  const session = useSession();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [other, setOther] = useState(false);
  const task = useTask();
  const accept = (who: { signedIn: true } | { name: string; title: string; password: string }): void =>
    task.run(async () => {
      await acceptInvitation({ secret, ...who }).catch((error: unknown) => {
        throw complaint(error, ['/name', '/title', '/password']);
      });
      navigate('/');
      await client.resetQueries();
    });
  const { data } = session;
  if (session.isPending) return null;
  if (data?.actor.type === 'user' && !other) {
    return (
      <>
        <Fault message={task.fault} />
        <Button look="primary" disabled={task.busy} onClick={() => accept({ signedIn: true })}>
          {say.join}
        </Button>
        <p className={css.account}>
          {say.signedInAs(<strong>{data.actor.name}</strong>)}{' '}
          <Button look="link" onClick={() => setOther(true)}>
            {say.useAnotherAccount}
          </Button>
        </p>
      </>
    );
  }
  return <Ask task={task} onJoin={accept} />;
}

interface AskProps {
  task: Task;
  onJoin: (who: { name: string; title: string; password: string }) => void;
}

function Ask({ task, onJoin }: AskProps) {
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const [password, setPassword] = useState('');
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    if (name.trim() === '' || password === '') return task.fail(say.chooseANameAndAPassword);
    onJoin({ name: name.trim(), title: title.trim(), password });
  };
  return (
    <form className={css.form} onSubmit={submit}>
      <TextField
        label={say.signInName}
        hint={say.signInNameHint}
        error={task.at('/name')}
        autoComplete="username"
        value={name}
        onChange={setName}
      />
      <TextField
        label={say.yourName}
        hint={say.yourNameHint}
        error={task.at('/title')}
        autoComplete="name"
        value={title}
        onChange={setTitle}
      />
      <TextField
        label={say.password}
        hint={say.passwordHint}
        error={task.at('/password')}
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Fault message={task.fault} />
      <Button look="primary" type="submit" disabled={task.busy}>
        {say.join}
      </Button>
    </form>
  );
}
