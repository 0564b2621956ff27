import { useEffect, useState } from 'react';
import { explain } from '../../api/http';
import { refreshSecrets, useSecrets } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Secret } from '../../api/types';
import { removeSecret } from '../../api/verbs';
import { ago } from '../../texts/format';
import { secretsPage as say } from '../../texts/secrets';
import { notify } from '../../state/notices';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { Column, Page } from '../../frame/Page';
import css from './SecretsPage.module.css';
import { SetSecretDialog } from '../../agent/SetSecretDialog';
import { declaredBy } from './usedBy';

/** Lists the secrets of the workspace. */
export function SecretsPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <Secrets />
      </Column>
    </Page>
  );
}

function Secrets() {
  const found = useSecrets();
  const [now] = useState(() => Date.now());
  const [making, setMaking] = useState(false);
  const { may } = useRights();
  const secrets = found.data ?? [];
  return (
    <section className={entries.section}>
      <div className={entries.head}>
        <div>
          <h1>{say.secrets}</h1>
          <p className={entries.lead}>{say.about}</p>
        </div>
        {may('write') && (
          <Button look="primary" onClick={() => setMaking(true)}>
            {say.newSecret}
          </Button>
        )}
      </div>
      {found.isPending && <Waiting shape="rows" what={say.theSecrets} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && secrets.length === 0 && (
        <Steps title={say.noneYet}>
          {may('write') ? say.makeOne(<code>atelier secrets set NAME</code>) : say.askForOne}
          {say.declareIt}
          {say.readIt(<code>ctx.env.NAME</code>)}
          {say.orBindIt}
        </Steps>
      )}
      {secrets.length > 0 && (
        <DataTable
          label={say.secrets}
          items={secrets}
          columns={columnsOf(now)}
          rowKey={({ name, agentId = '' }) => `${name} ${agentId}`}
          words={({ name, agent = '', bind, usedBy }) =>
            [name, agent, bind?.host, ...usedBy.map((version) => version.agent)].join(' ')
          }
        />
      )}
      {making && <SetSecretDialog onClose={() => setMaking(false)} />}
    </section>
  );
}

const columnsOf = (now: number): TableColumn<Secret>[] => [
  {
    key: 'name',
    title: say.name,
    by: ({ name }) => name,
    cell: ({ name, bind }) => (
      <>
        <strong className={css.name}>{name}</strong>
        {bind !== undefined && <small>{say.sentTo(bind.host, bind.header)}</small>}
      </>
    ),
  },
  {
    key: 'for',
    title: say.for,
    by: ({ agent = '' }) => agent,
    cell: ({ agentId = '', agent = '', usedBy }) => (
      <>
        {agentId === '' ? say.allAgents : say.only(agent)}
        <small>{declaredBy(usedBy)}</small>
      </>
    ),
  },
  {
    key: 'set',
    title: say.set,
    by: ({ setAt }) => -Date.parse(setAt),
    cell: ({ setAt, setBy }) => (
      <>
        {ago(setAt, now)}
        <small>{say.by(setBy)}</small>
      </>
    ),
  },
  {
    key: 'used',
    title: say.lastUse,
    by: ({ lastUsedAt }) => (lastUsedAt === undefined ? 0 : -Date.parse(lastUsedAt)),
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span className={css.quiet}>{say.never}</span> : ago(lastUsedAt, now),
  },
  { key: 'acts', title: say.actions, acts: true, cell: (secret) => <Actions secret={secret} /> },
];

function Actions({ secret }: { secret: Secret }) {
  const { name, agentId = '', agent = '' } = secret;
  const [asked, setAsked] = useState<'replace' | 'remove'>();
  const { may } = useRights();
  const close = (): void => setAsked(undefined);
  const label = agentId === '' ? name : say.nameOf(name, agent);
  const remove = async (): Promise<void> => {
    try {
      await removeSecret(name, agentId);
      notify('done', say.removed(label));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshSecrets();
  };
  if (!may('write')) return null;
  return (
    <div>
      <Button aria-label={say.replaceNamed(label)} onClick={() => setAsked('replace')}>
        {say.replace}
      </Button>
      <Button ref={leaveFocus} aria-label={say.removeNamed(label)} onClick={() => setAsked('remove')}>
        {say.remove}
      </Button>
      {asked === 'replace' && <SetSecretDialog secret={secret} onClose={close} />}
      {asked === 'remove' && (
        <ConfirmDialog
          title={say.removeTitle(label)}
          about={say.removeAbout}
          verb={say.removeVerb}
          onClose={close}
          onConfirm={() => void remove()}
        />
      )}
    </div>
  );
}
