import { useEffect, useState } from 'react';
import { explain } from '../../api/http';
import { refreshTokens, useTokens } from '../../api/queries';
import type { Token } from '../../api/types';
import { revokeToken } from '../../api/verbs';
import { notify } from '../../state/notices';
import { tokensPage as say } from '../../texts/access';
import { ago, day } from '../../texts/format';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { Check } from '../../ui/Field';
import entries from '../../ui/Entries.module.css';
import { Column, Page } from '../../frame/Page';
import { NewTokenDialog } from './NewTokenDialog';
import { Sessions } from './Sessions';
import { tokenState } from './scopes';
import css from './TokensPage.module.css';

/** Lists the tokens of programs with their scopes and last use. */
export function TokensPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <Tokens />
        <Sessions />
      </Column>
    </Page>
  );
}

function Tokens() {
  const found = useTokens();
  const [now] = useState(() => Date.now());
  const [making, setMaking] = useState(false);
  const [all, setAll] = useState(false);
  const tokens = found.data ?? [];
  const open = tokens.filter((token) => tokenState(token, now) === 'open');
  const shown = all ? tokens : open;
  return (
    <section className={entries.section}>
      <div className={entries.head}>
        <div>
          <h1>{say.tokens}</h1>
          <p className={entries.lead}>{say.lead}</p>
        </div>
        <Button look="primary" onClick={() => setMaking(true)}>
          {say.newToken}
        </Button>
      </div>
      {found.isPending && <Waiting shape="rows" what={say.theTokens} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && shown.length === 0 && (
        <p className={entries.lead}>{say.none(<code>atelier token create NAME</code>)}</p>
      )}
      {tokens.length > open.length && <Check label={say.showClosedToo} checked={all} onChange={setAll} />}
      {shown.length > 0 && (
        <ul className={entries.list} aria-label={say.tokens}>
          {shown.map((token) => (
            <Row key={token.id} token={token} now={now} />
          ))}
        </ul>
      )}
      {making && <NewTokenDialog onClose={() => setMaking(false)} />}
    </section>
  );
}

function Row({ token, now }: { token: Token; now: number }) {
  const { id, name, scopes, agents } = token;
  const [asked, setAsked] = useState(false);
  const state = tokenState(token, now);
  const revoke = async (): Promise<void> => {
    try {
      await revokeToken(id);
      notify('done', say.revoked(name));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshTokens();
  };
  return (
    <li className={classes(entries.row, state !== 'open' && css.closed)}>
      <div className={entries.about}>
        <strong>{name}</strong>
        <ul className={css.scopes} aria-label={say.scopesOf(name)}>
          {scopes.map((scope) => (
            <li key={scope} className={scope === 'admin' ? css.admin : undefined}>
              {scope}
            </li>
          ))}
        </ul>
        <small>{facts(token, now).join(' · ')}</small>
        {agents.length > 0 && <small>{say.only(agents.map((agent) => agent.name).join(', '))}</small>}
      </div>
      {state === 'open' && (
        <Button ref={leaveFocus} aria-label={say.revoke(name)} onClick={() => setAsked(true)}>
          {say.revokeButton}
        </Button>
      )}
      {asked && (
        <ConfirmDialog
          title={say.revokeTitle(name)}
          about={say.revokeAbout}
          verb={say.revokeVerb}
          onClose={() => setAsked(false)}
          onConfirm={() => void revoke()}
        />
      )}
    </li>
  );
}

function facts(token: Token, now: number): string[] {
  const { lastUsedAt, expiresAt, revokedAt, createdAt } = token;
  const used = lastUsedAt === undefined ? say.neverUsed : say.used(ago(lastUsedAt, now));
  const end: Record<ReturnType<typeof tokenState>, string> = {
    open: expiresAt === undefined ? say.neverExpires : say.expires(day(expiresAt)),
    expired: say.expired(ago(expiresAt ?? '', now)),
    revoked: say.wasRevoked(ago(revokedAt ?? '', now)),
  };
  return [used, end[tokenState(token, now)], say.made(ago(createdAt, now))];
}
