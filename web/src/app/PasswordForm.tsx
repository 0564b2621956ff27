import { useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { signInByPassword } from '../api/verbs';
import { passwordForm as say } from '../texts/app';
import { Button } from '../ui/Button';
import { Fault } from '../ui/Fault';
import { Field } from '../ui/Field';
import { useTask } from '../ui/useTask';
import css from './SignIn.module.css';

/** The way in for a person who has a name and a password. */
export function PasswordForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const task = useTask();
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    if (name.trim() === '' || password === '') return task.fail(say.giveYourNameAnd);
    task.run(async () => {
      await signInByPassword(name.trim(), password);
      onDone();
      await client.resetQueries();
    });
  };
  return (
    <form className={css.form} onSubmit={submit}>
      <Field label={say.name}>
        {(control) => (
          <input {...control} autoComplete="username" value={name} onChange={(e) => setName(e.target.value)} />
        )}
      </Field>
      <Field label={say.password}>
        {(control) => (
          <input
            {...control}
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={(e) => setPassword(e.target.value)}
          />
        )}
      </Field>
      <Fault message={task.fault} />
      <Button look="primary" type="submit" disabled={task.busy}>
        {say.signIn}
      </Button>
    </form>
  );
}
