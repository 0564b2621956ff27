import { useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { ApiError, explain } from '../api/http';
import { signIn } from '../api/verbs';
import { tokenForm as say } from '../texts/app';
import { Button } from '../ui/Button';
import { TextField } from '../ui/TextField';
import css from '../frame/SignIn.module.css';

/** Shows the sign-in form for server administrators and for people who have a token. */
export function TokenForm({ look }: { look: 'plain' | 'primary' }) {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [state, setState] = useState<{ kind: 'idle' } | { kind: 'busy' } | { kind: 'failed'; message: string }>({
    kind: 'idle',
  });

  const submit = async (e: SyntheticEvent): Promise<void> => {
    e.preventDefault();
    if (token.trim() === '') return setState({ kind: 'failed', message: say.pasteTheTokenFirst });
    setState({ kind: 'busy' });
    try {
      await signIn(token.trim());
      await client.resetQueries();
    } catch (error) {
      const refused = error instanceof ApiError && error.status === 401;
      setState({ kind: 'failed', message: refused ? say.opensNothing : explain(error) });
    }
  };

  return (
    <form className={css.form} onSubmit={(e) => void submit(e)}>
      <TextField
        label={say.token}
        hint={say.tokenHint}
        error={state.kind === 'failed' ? state.message : undefined}
        mono
        type="password"
        autoComplete="current-password"
        value={token}
        onChange={setToken}
      />
      <Button look={look} type="submit" disabled={state.kind === 'busy'}>
        {say.signIn}
      </Button>
    </form>
  );
}
