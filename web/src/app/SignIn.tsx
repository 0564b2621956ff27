import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { explain } from '../api/http';
import { listLoginWays, signIn } from '../api/verbs';
import { Button } from '../ui/Button';
import { Field } from '../ui/Field';
import css from './SignIn.module.css';

/** Why a provider of logins sent someone back without a session, by the code that the server gave. */
const refusals: Partial<Record<string, string>> = {
  bad_request: 'That login did not begin in this browser, or it took longer than ten minutes. Start again.',
  unauthenticated: 'The provider did not let you in, or what it said did not hold. Start again.',
  forbidden: 'You are who you say, but none of your groups has a role here. Ask an administrator for one.',
  provider_unavailable: 'The provider of logins cannot be reached. Use another way below, or try again later.',
  too_many_requests: 'Too many logins failed from here. Wait a minute, then start again.',
  internal: 'The server failed to log you in. Its log says why.',
};

/** What someone without a session sees: how to get one. */
export function SignIn() {
  const client = useQueryClient();
  const ways = useQuery({ queryKey: ['loginWays'], queryFn: listLoginWays });
  const refused = refusals[new URLSearchParams(location.search).get('login') ?? ''];
  const [token, setToken] = useState('');
  const [state, setState] = useState<{ kind: 'idle' } | { kind: 'busy' } | { kind: 'failed'; message: string }>({
    kind: 'idle',
  });

  const submit = async (e: SyntheticEvent): Promise<void> => {
    e.preventDefault();
    if (token.trim() === '') return setState({ kind: 'failed', message: 'Paste the token first.' });
    setState({ kind: 'busy' });
    try {
      await signIn(token.trim());
      await client.resetQueries();
    } catch (error) {
      setState({ kind: 'failed', message: explain(error) });
    }
  };

  return (
    <main className={css.page}>
      <form className={css.card} onSubmit={(e) => void submit(e)}>
        <h1>Sign in to Atelier</h1>
        {refused !== undefined && (
          <p role="alert" className={css.refused}>
            {refused}
          </p>
        )}
        {ways.data?.provider && (
          <a className={css.provider} href={ways.data.provider.path}>
            Log in with {ways.data.provider.name}
          </a>
        )}
        <p>
          Open the link that <code>atelier serve</code> printed when it started. It works once; every start of the
          server prints a new one.
        </p>
        <p>Or paste a token. What you may then do is what it may do.</p>
        <Field label="Token" error={state.kind === 'failed' ? state.message : undefined} mono>
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="current-password"
              value={token}
              onChange={(e) => setToken(e.target.value)}
            />
          )}
        </Field>
        <Button look="primary" type="submit" disabled={state.kind === 'busy'}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
