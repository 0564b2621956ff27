import { useDeferredValue, useEffect, useState } from 'react';
import { useRegistryListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import type { AgentSummary } from '../../api/types';
import { showDialog } from '../../app/dialogs';
import { plural } from '../../app/format';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { Listed } from '../../ui/Listed';
import { LanguageMark } from '../agents/LanguageMark';
import { Column, Page } from '../agents/Page';
import css from './RegistryPage.module.css';

/** What the workspaces of this server list for one another: to search, and to copy. */
export function RegistryPage() {
  useEffect(() => {
    document.title = 'Public registry · Atelier';
  }, []);
  return (
    <Page>
      <Column>
        <Browse />
      </Column>
    </Page>
  );
}

function Browse() {
  const [typed, setSearch] = useState('');
  const search = useDeferredValue(typed);
  const listing = useRegistryListing(search);
  return (
    <section className={css.section}>
      <div>
        <h1>Public registry</h1>
        <p className={css.lead}>
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
              value={typed}
              onChange={(e) => setSearch(e.target.value)}
            />
          )}
        </Field>
      </div>
      <Listed
        listing={listing}
        what="the registry"
        empty={
          <p className={css.lead}>
            {search.trim() === ''
              ? 'Nothing is listed yet. An agent with a published version can be listed from its menu.'
              : `Nothing matches “${search}”.`}
          </p>
        }
      >
        {(items) => (
          <ul className={css.list} aria-label="Listed agents">
            {items.map((agent) => (
              <Row key={agent.id} agent={agent} />
            ))}
          </ul>
        )}
      </Listed>
    </section>
  );
}

function Row({ agent }: { agent: AgentSummary }) {
  const { id, name, title, description, language, latestVersion, tags, usageCount } = agent;
  const { may } = useRights();
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
      {may('write') && (
        <Button
          aria-label={`Copy ${name}`}
          onClick={() => showDialog({ kind: 'copy', id, name, version: latestVersion })}
        >
          Copy…
        </Button>
      )}
    </li>
  );
}
