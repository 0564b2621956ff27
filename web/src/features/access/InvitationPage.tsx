import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type SyntheticEvent } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../../api/queries';
import { acceptInvitation, readInvitation } from '../../api/verbs';
import css from '../../app/SignIn.module.css';
import { invitationPage as say } from '../../texts/access';
import { Button } from '../../ui/Button';
import { Waiting } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { complaint } from './complaint';

/** Where the link of an invitation leads. Its secret follows the #; it is taken out of the address at once. */
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
        <h1>{say.invitation}</h1>
        {secret === '' && <Fault message={say.linkIsNotWhole} />}
        {secret !== '' && invited.isError && <Fault message={invited.error.message} />}
        {secret !== '' && invited.isPending && (
          <Waiting what={say.theInvitation} onRetry={() => void invited.refetch()} />
        )}
        {invited.data && (
          <>
            <p>
              {say.invited(
                <strong>{invited.data.workspace}</strong>,
                <strong>{invited.data.role}</strong>,
                invited.data.invitedBy,
              )}
            </p>
            <Join secret={secret} />
          </>
        )}
      </div>
    </main>
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
        throw complaint(error);
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
          {say.joinAs(data.actor.name)}
        </Button>
        <Button look="link" onClick={() => setOther(true)}>
          {say.joinAsSomebodyElse}
        </Button>
      </>
    );
  }
  return <Ask busy={task.busy} fault={task.fault} onFail={task.fail} onJoin={accept} />;
}

interface AskProps {
  busy: boolean;
  fault: string | undefined;
  onFail: (message: string) => void;
  onJoin: (who: { name: string; title: string; password: string }) => void;
}

function Ask({ busy, fault, onFail, onJoin }: AskProps) {
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const [password, setPassword] = useState('');
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    if (name.trim() === '' || password === '') return onFail(say.chooseANameAndAPassword);
    onJoin({ name: name.trim(), title: title.trim(), password });
  };
  return (
    <form className={css.form} onSubmit={submit}>
      <TextField
        label={say.loginName}
        hint={say.loginNameHint}
        autoComplete="username"
        value={name}
        onChange={setName}
      />
      <TextField label={say.yourName} hint={say.yourNameHint} autoComplete="name" value={title} onChange={setTitle} />
      <TextField
        label={say.password}
        hint={say.passwordHint}
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      <Fault message={fault} />
      <Button look="primary" type="submit" disabled={busy}>
        {say.join}
      </Button>
    </form>
  );
}
