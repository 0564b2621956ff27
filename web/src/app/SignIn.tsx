import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { listLoginWays } from '../api/verbs';
import { Button } from '../ui/Button';
import { PasswordForm } from './PasswordForm';
import css from './SignIn.module.css';
import { TokenForm } from './TokenForm';

/** Why a provider of logins sent someone back without a session, by the code that the server gave. */
const refusals: Partial<Record<string, string>> = {
  bad_request: 'That login did not begin in this browser, or it took longer than ten minutes. Start again.',
  unauthenticated: 'The provider did not let you in, or what it said did not hold. Start again.',
  forbidden: 'You are who you say, but none of your groups has a role here. Ask an administrator for one.',
  provider_unavailable: 'The provider of logins cannot be reached. Use another way below, or try again later.',
  too_many_requests: 'Too many logins failed from here. Wait a minute, then start again.',
  internal: 'The server failed to log you in. Its log says why.',
};

const code = 'login';
const kept = 'atelier.signin';

/** Whoever is signed in has nothing to do with a refusal any more, nor has whom they send the address to. */
function forgetCode(): void {
  const url = new URL(location.href);
  if (!url.searchParams.has(code)) return;
  url.searchParams.delete(code);
  history.replaceState(history.state, '', url);
}

/** What someone without a session sees: how to get one. The way that was taken here before comes first. */
export function SignIn() {
  const ways = useQuery({ queryKey: ['loginWays'], queryFn: listLoginWays });
  const [refused] = useState(() => refusals[new URLSearchParams(location.search).get(code) ?? '']);
  useEffect(() => forgetCode, []);
  const [way, setWay] = useState(localStorage.getItem(kept) === 'password' ? 'password' : 'token');
  return (
    <main className={css.page}>
      <div className={css.card}>
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
        {way === 'password' ? <PasswordForm onDone={() => localStorage.setItem(kept, 'password')} /> : <TokenForm />}
        <Button look="link" onClick={() => setWay(way === 'password' ? 'token' : 'password')}>
          {way === 'password' ? 'Use a link or a token' : 'Use a name and a password'}
        </Button>
      </div>
    </main>
  );
}
