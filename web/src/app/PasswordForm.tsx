import { useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { signInByPassword } from '../api/verbs';
import { passwordForm as say } from '../texts/app';
import { Button } from '../ui/Button';
import { Fault } from '../ui/Fault';
import { TextField } from '../ui/TextField';
import { useTask } from '../ui/useTask';
import css from '../frame/SignIn.module.css';

/** Shows the sign-in form for name and password. */
export function PasswordForm({ look, onDone }: { look: 'plain' | 'primary'; onDone: () => void }) {
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
      <TextField label={say.name} autoComplete="username" value={name} onChange={setName} />
      <TextField
        label={say.password}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
      />
      <Fault message={task.fault} />
      <Button look={look} type="submit" disabled={task.busy}>
        {say.signIn}
      </Button>
    </form>
  );
}
