import { useDeferredValue, useEffect, useState } from 'react';
import { useRegistry } from '../../api/queries';
import type { AgentSummary } from '../../api/types';
import { Brand, Grow, HeaderTools } from '../../app/Brand';
import { showDialog } from '../../app/dialogs';
import { plural } from '../../app/format';
import { ServerStatus } from '../../app/StatusLine';
import { Workbench } from '../../app/Workbench';
import { Button } from '../../ui/Button';
import { Waiting } from '../../ui/Empty';
import { Field } from '../../ui/Field';
import { AgentsPanel } from '../agents/AgentsPanel';
import { LanguageMark } from '../agents/LanguageMark';
import home from '../samples/HomePage.module.css';
import css from './RegistryPage.module.css';

/** What the workspaces of this server list for one another: to search, and to copy. */
export function RegistryPage() {
  useEffect(() => {
    document.title = 'Public registry · Atelier';
  }, []);
  return (
    <Workbench
      header={
        <>
          <Brand />
          <Grow />
          <HeaderTools />
        </>
      }
      left={
        <div style={{ display: 'flex', height: '100%' }}>
          <AgentsPanel />
        </div>
      }
      main={
        <div className={home.page}>
          <div className={home.inner}>
            <Browse />
          </div>
        </div>
      }
      status={<ServerStatus />}
    />
  );
}

function Browse() {
  const [search, setSearch] = useState('');
  const found = useRegistry(useDeferredValue(search));
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className={css.section}>
      <div>
        <h1>Public registry</h1>
        <p className={home.lead}>
          Published agents that workspaces of this server list. A copy is an agent of your own: it remembers where it
          came from and tells when there is a newer version there.
        </p>
      </div>
      <div className={css.search}>
        <Field label="Search the registry">
          {(control) => (
            <input
              {...control}
              type="search"
              placeholder="Name, title, description or tag"
              value={search}
              onChange={(e) => setSearch(e.target.value)}
            />
          )}
        </Field>
      </div>
      {found.isPending && <Waiting what="the registry" onRetry={() => void found.refetch()} />}
      {found.isError && (
        <p role="alert" className={home.error}>
          The registry could not be loaded. {found.error.message}
        </p>
      )}
      {found.isSuccess && items.length === 0 && (
        <p className={home.lead}>
          {search.trim() === ''
            ? 'Nothing is listed yet. An agent with a published version can be listed from its menu in the list of agents.'
            : `Nothing matches “${search}”.`}
        </p>
      )}
      <ul className={css.list} aria-label="Listed agents">
        {items.map((agent) => (
          <Row key={agent.id} agent={agent} />
        ))}
      </ul>
      {found.hasNextPage && (
        <div>
          <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

function Row({ agent }: { agent: AgentSummary }) {
  const { id, name, title, description, language, latestVersion, tags, usageCount } = agent;
  return (
    <li className={css.row}>
      <LanguageMark language={language} />
      <div className={css.about}>
        <strong>
          {name} <span className={css.version}>{latestVersion}</span>
        </strong>
        <p>{description === '' ? title : description}</p>
        <small>{[plural(usageCount, 'run'), ...tags].join(' · ')}</small>
      </div>
      <Button
        aria-label={`Copy ${name}`}
        onClick={() => showDialog({ kind: 'copy', id, name, version: latestVersion })}
      >
        Copy…
      </Button>
    </li>
  );
}
