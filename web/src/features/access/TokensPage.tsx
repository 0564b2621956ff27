import { useEffect, useState } from 'react';
import { explain } from '../../api/http';
import { refreshTokens, useTokens } from '../../api/queries';
import type { Token } from '../../api/types';
import { revokeToken } from '../../api/verbs';
import { ago } from '../../texts/format';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { Waiting } from '../../ui/Empty';
import { Check } from '../../ui/Field';
import field from '../../ui/Field.module.css';
import { Column, Page } from '../agents/Page';
import { NewTokenDialog } from './NewTokenDialog';
import { Sessions } from './Sessions';
import { tokenState } from './scopes';
import css from './TokensPage.module.css';

/** Who else may come in: programs with a token, what each may do, and when it last did. */
export function TokensPage() {
  useEffect(() => {
    document.title = 'Tokens · Atelier';
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
    <section className={css.section}>
      <div className={css.head}>
        <div>
          <h1>Tokens</h1>
          <p className={css.lead}>
            A program shows a token to come in. Give each its own, with no more scopes than it needs.
          </p>
        </div>
        <Button look="primary" onClick={() => setMaking(true)}>
          New token…
        </Button>
      </div>
      {found.isPending && <Waiting what="the tokens" onRetry={() => void found.refetch()} />}
      {found.isError && (
        <p role="alert" className={field.failed}>
          The tokens could not be loaded. {found.error.message}
        </p>
      )}
      {found.isSuccess && shown.length === 0 && (
        <p className={css.lead}>
          There is no token yet. Make one here, or run <code>atelier token create NAME</code>.
        </p>
      )}
      {tokens.length > open.length && (
        <Check label="Show revoked and expired tokens too" checked={all} onChange={setAll} />
      )}
      {shown.length > 0 && (
        <ul className={css.list} aria-label="Tokens">
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
      notify('done', `Revoked ${name}`);
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshTokens();
  };
  return (
    <li className={classes(css.row, state !== 'open' && css.closed)}>
      <div className={css.about}>
        <strong>{name}</strong>
        <ul className={css.scopes} aria-label={`Scopes of ${name}`}>
          {scopes.map((scope) => (
            <li key={scope} className={scope === 'admin' ? css.admin : undefined}>
              {scope}
            </li>
          ))}
        </ul>
        <small>{facts(token, now).join(' · ')}</small>
        {agents.length > 0 && <small>Only {agents.map((agent) => agent.name).join(', ')}</small>}
      </div>
      {state === 'open' && (
        <Button aria-label={`Revoke ${name}`} onClick={() => setAsked(true)}>
          Revoke…
        </Button>
      )}
      {asked && (
        <ConfirmDialog
          title={`Revoke ${name}?`}
          about="Whoever shows it is refused from now on, and its sessions end. This cannot be taken back."
          verb="Revoke"
          onClose={() => setAsked(false)}
          onConfirm={() => void revoke()}
        />
      )}
    </li>
  );
}

function facts(token: Token, now: number): string[] {
  const { lastUsedAt, expiresAt, revokedAt, createdAt } = token;
  const used = lastUsedAt === undefined ? 'never used' : `used ${ago(lastUsedAt, now)}`;
  const end: Record<ReturnType<typeof tokenState>, string> = {
    open: expiresAt === undefined ? 'never expires' : `expires ${expiresAt.slice(0, 10)}`,
    expired: `expired ${ago(expiresAt ?? '', now)}`,
    revoked: `revoked ${ago(revokedAt ?? '', now)}`,
  };
  return [used, end[tokenState(token, now)], `made ${ago(createdAt, now)}`];
}
