import { useEffect, useState } from 'react';
import { explain } from '../../api/http';
import { refreshSecrets, useSecrets } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Secret } from '../../api/types';
import { removeSecret } from '../../api/verbs';
import { ago } from '../../texts/format';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { Waiting } from '../../ui/Empty';
import field from '../../ui/Field.module.css';
import { Column, Page } from '../agents/Page';
import { QuotaList } from './QuotaList';
import css from './SecretsPage.module.css';
import { SetSecretDialog } from './SetSecretDialog';
import { declaredBy } from './words';

/** What agents are given without anybody reading it, and how much the workspace may take. */
export function SecretsPage() {
  useEffect(() => {
    document.title = 'Secrets · Atelier';
  }, []);
  return (
    <Page>
      <Column>
        <Secrets />
        <QuotaList />
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
    <section className={css.section}>
      <div className={css.head}>
        <div>
          <h1>Secrets</h1>
          <p className={css.lead}>
            Runs of versions that declare a name are given its value. It is encrypted, masked in what they print, and
            cannot be read again.
          </p>
        </div>
        {may('write') && (
          <Button look="primary" onClick={() => setMaking(true)}>
            New secret…
          </Button>
        )}
      </div>
      {found.isPending && <Waiting what="the secrets" onRetry={() => void found.refetch()} />}
      {found.isError && (
        <p role="alert" className={field.failed}>
          The secrets could not be loaded. {found.error.message}
        </p>
      )}
      {found.isSuccess && secrets.length === 0 && (
        <p className={css.lead}>
          There is no secret yet.{' '}
          {may('write') && (
            <>
              Make one here, or pipe it into <code>atelier secrets set NAME</code>.
            </>
          )}
        </p>
      )}
      {secrets.length > 0 && (
        <ul className={css.list} aria-label="Secrets">
          {secrets.map((secret) => (
            <Row key={`${secret.name} ${secret.agentId ?? ''}`} secret={secret} now={now} />
          ))}
        </ul>
      )}
      {making && <SetSecretDialog onClose={() => setMaking(false)} />}
    </section>
  );
}

function Row({ secret, now }: { secret: Secret; now: number }) {
  const { name, agentId = '', agent = '', bind, usedBy } = secret;
  const [asked, setAsked] = useState<'replace' | 'remove'>();
  const { may } = useRights();
  const close = (): void => setAsked(undefined);
  const label = agentId === '' ? name : `${name} of ${agent}`;
  const remove = async (): Promise<void> => {
    try {
      await removeSecret(name, agentId);
      notify('done', `Removed ${label}`);
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshSecrets();
  };
  return (
    <li className={css.row}>
      <div className={css.about}>
        <strong>{name}</strong>
        <small>{agentId === '' ? 'All agents' : `Only ${agent}`}</small>
        {bind !== undefined && (
          <small>
            Sent to {bind.host} as {bind.header}, and not given to programs
          </small>
        )}
        <small>{facts(secret, now)}</small>
        <small>{declaredBy(usedBy)}</small>
      </div>
      {may('write') && (
        <div className={css.tools}>
          <Button aria-label={`Replace ${label}`} onClick={() => setAsked('replace')}>
            Replace…
          </Button>
          <Button aria-label={`Remove ${label}`} onClick={() => setAsked('remove')}>
            Remove…
          </Button>
        </div>
      )}
      {asked === 'replace' && <SetSecretDialog secret={secret} onClose={close} />}
      {asked === 'remove' && (
        <ConfirmDialog
          title={`Remove ${label}?`}
          about="Runs that declare it are refused from now on. The value cannot be read again."
          verb="Remove"
          onClose={close}
          onConfirm={() => void remove()}
        />
      )}
    </li>
  );
}

function facts({ setAt, setBy, lastUsedAt }: Secret, now: number): string {
  const used = lastUsedAt === undefined ? 'never used' : `used ${ago(lastUsedAt, now)}`;
  return `set ${ago(setAt, now)} by ${setBy} · ${used}`;
}
