import { useQuery } from '@tanstack/react-query';
import { Terminal } from 'lucide-react';
import { useEffect, useState } from 'react';
import { keep, readStored } from '../api/storage';
import { listSignInMethods } from '../api/verbs';
import { signIn as said, tokenForm } from '../texts/app';
import { Button } from '../ui/Button';
import button from '../ui/Button.module.css';
import { classes } from '../ui/classes';
import { NotLoaded } from '../ui/NotLoaded';
import { PasswordForm } from './PasswordForm';
import { Mark } from '../frame/Brand';
import css from '../frame/SignIn.module.css';
import { TokenForm } from './TokenForm';

/** The messages for a failed sign-in at an identity provider, by error code. */
const refusals: Partial<Record<string, string>> = {
  bad_request: said.notStartedHere,
  unauthenticated: said.refusedByProvider,
  forbidden: said.noRole,
  provider_unavailable: said.providerUnreachable,
  too_many_requests: said.tooManyFailures,
  internal: said.serverFailed,
};

const code = 'login';
const kept = 'atelier.signin';

function refusal(): string | undefined {
  const asked = new URLSearchParams(location.search).get(code) ?? '';
  return Object.hasOwn(refusals, asked) ? refusals[asked] : undefined; // shown only if the code is known, because anyone can write a code into a URL
}

/** Removes the error from the URL, because signed-in users do not need it and may share the URL. */
function forgetCode(): void {
  const url = new URL(location.href);
  if (!url.searchParams.has(code)) return;
  url.searchParams.delete(code);
  history.replaceState(history.state, '', url);
}

/** Shows the sign-in page. The method that was used last in this browser is first. */
export function SignIn() {
  const ways = useQuery({ queryKey: ['signInWays'], queryFn: listSignInMethods });
  const [refused] = useState(refusal);
  useEffect(() => forgetCode, []);
  const [way, setWay] = useState(readStored(kept, (was) => (was === 'password' ? was : undefined)) ?? 'token');
  const provider = ways.data?.provider;
  const look = provider ? 'plain' : 'primary'; // highlights the first method
  return (
    <main className={css.page}>
      <div className={css.card}>
        <div className={css.brand}>
          <Mark size={32} />
          <h1>{said.signInToAtelier}</h1>
          <p>{said.lead}</p>
        </div>
        {refused !== undefined && (
          <p role="alert" className={css.refused}>
            {refused}
          </p>
        )}
        <NotLoaded found={ways} why={said.waysNotLoaded} />
        {provider && (
          <>
            <a className={classes(button.button, button.primary, css.provider)} href={provider.path}>
              {said.signInWith(provider.name)}
            </a>
            <hr className={css.rule} />
          </>
        )}
        {way === 'password' ? (
          <PasswordForm look={look} onDone={() => keep(kept, 'password')} />
        ) : (
          <TokenForm look={look} />
        )}
        <Button look="link" onClick={() => setWay(way === 'password' ? 'token' : 'password')}>
          {way === 'password' ? said.useALinkOr : said.useANameAnd}
        </Button>
        {way !== 'password' && (
          <p className={css.foot}>
            <Terminal size={16} aria-hidden />
            <span>{tokenForm.openTheLinkThatPrinted(<code>atelier serve</code>)}</span>
          </p>
        )}
      </div>
    </main>
  );
}
