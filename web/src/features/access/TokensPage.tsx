import { Ban, Clock, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { explain } from '../../api/http';
import { refreshTokens, useTokens } from '../../api/queries';
import type { Token } from '../../api/types';
import { revokeToken } from '../../api/verbs';
import { notify } from '../../state/notices';
import { tokensPage as say } from '../../texts/access';
import { ago, day } from '../../texts/format';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import { Check } from '../../ui/Field';
import entries from '../../ui/Entries.module.css';
import { Column, Page } from '../../frame/Page';
import { NewTokenDialog } from './NewTokenDialog';
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
        <Steps title={say.none}>
          {say.makeIt(<code>atelier token create NAME</code>)}
          {say.sendIt(<code>Authorization: Bearer TOKEN</code>, <code>ATELIER_TOKEN</code>)}
          {say.revokeIt}
        </Steps>
      )}
      {tokens.length > open.length && <Check label={say.showClosedToo} checked={all} onChange={setAll} />}
      {shown.length > 0 && (
        <DataTable
          label={say.tokens}
          items={shown}
          columns={columnsOf(now)}
          rowKey={({ id }) => id}
          words={({ name, scopes, agents }) => [name, ...scopes, ...agents.map((agent) => agent.name)].join(' ')}
          faded={(token) => tokenState(token, now) !== 'open'}
        />
      )}
      {making && <NewTokenDialog onClose={() => setMaking(false)} />}
    </section>
  );
}

const time = (at: string | undefined): number => (at === undefined ? 0 : Date.parse(at));

const columnsOf = (now: number): TableColumn<Token>[] => [
  {
    key: 'name',
    title: say.name,
    by: ({ name }) => name,
    cell: ({ name, agents }) => (
      <>
        <strong>{name}</strong>
        {agents.length > 0 && <small>{say.only(agents.map((agent) => agent.name).join(', '))}</small>}
      </>
    ),
  },
  {
    key: 'scopes',
    title: say.scopes,
    by: ({ scopes }) => scopes.length,
    cell: ({ name, scopes }) => (
      <ul className={css.scopes} aria-label={say.scopesOf(name)}>
        {scopes.map((scope) => (
          <li key={scope} className={scope === 'admin' ? css.admin : undefined}>
            {scope}
          </li>
        ))}
      </ul>
    ),
  },
  {
    key: 'used',
    title: say.lastUse,
    by: ({ lastUsedAt }) => -time(lastUsedAt),
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span className={css.quiet}>{say.unused}</span> : ago(lastUsedAt, now),
  },
  {
    key: 'ends',
    title: say.end,
    by: ({ expiresAt }) => (expiresAt === undefined ? Infinity : time(expiresAt)),
    cell: (token) => <End token={token} now={now} />,
  },
  {
    key: 'made',
    title: say.made,
    by: ({ createdAt }) => -time(createdAt),
    cell: ({ createdAt }) => ago(createdAt, now),
  },
  { key: 'acts', title: say.actions, acts: true, cell: (token) => <Revoke token={token} now={now} /> },
];

function Revoke({ token, now }: { token: Token; now: number }) {
  const { id, name } = token;
  const [asked, setAsked] = useState(false);
  const revoke = async (): Promise<void> => {
    try {
      await revokeToken(id);
      notify('done', say.revoked(name));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshTokens();
  };
  if (tokenState(token, now) !== 'open') return null;
  return (
    <>
      <Button ref={leaveFocus} aria-label={say.revoke(name)} onClick={() => setAsked(true)}>
        {say.revokeButton}
      </Button>
      {asked && (
        <ConfirmDialog
          title={say.revokeTitle(name)}
          about={say.revokeAbout}
          verb={say.revokeVerb}
          onClose={() => setAsked(false)}
          onConfirm={() => void revoke()}
        />
      )}
    </>
  );
}

/** When a token ends. A token that never ends has a warning. */
function End({ token, now }: { token: Token; now: number }) {
  const { expiresAt, revokedAt, scopes } = token;
  switch (tokenState(token, now)) {
    case 'open':
      if (expiresAt !== undefined) return day(expiresAt);
      return (
        <span title={scopes.includes('admin') ? say.neverAdmin : say.neverHint}>
          <StateMark look="warn" icon={TriangleAlert}>
            {say.never}
          </StateMark>
        </span>
      );
    case 'expired':
      return (
        <StateMark look="quiet" icon={Clock}>
          {say.expired(ago(expiresAt ?? '', now))}
        </StateMark>
      );
    case 'revoked':
      return (
        <StateMark look="quiet" icon={Ban}>
          {say.wasRevoked(ago(revokedAt ?? '', now))}
        </StateMark>
      );
  }
}
