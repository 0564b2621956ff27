import { useDeferredValue, useEffect } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useRegistryListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import type { AgentSummary } from '../../api/types';
import { showDialog } from '../../app/dialogs';
import { registryPage as say } from '../../texts/registry';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { Listed } from '../../ui/Listed';
import { LanguageMark } from '../agents/LanguageMark';
import { Column, Page } from '../agents/Page';
import css from './RegistryPage.module.css';

/** What the workspaces of this server list for one another: to search, and to copy. */
export function RegistryPage() {
  useEffect(() => {
    document.title = say.pageTitle;
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
  const [, navigate] = useLocation();
  const typed = new URLSearchParams(useSearch()).get('q') ?? '';
  const setSearch = (text: string): void =>
    navigate(text === '' ? '/registry' : `/registry?${new URLSearchParams({ q: text }).toString()}`, { replace: true });
  const search = useDeferredValue(typed);
  const listing = useRegistryListing(search);
  return (
    <section className={css.section}>
      <div>
        <h1>{say.publicRegistry}</h1>
        <p className={css.lead}>{say.lead}</p>
      </div>
      <div className={css.search}>
        <Field label={say.searchTheRegistry}>
          {(control) => (
            <input
              {...control}
              type="search"
              placeholder={say.placeholder}
              value={typed}
              onChange={(e) => setSearch(e.target.value)}
            />
          )}
        </Field>
      </div>
      <Listed
        listing={listing}
        what={say.theRegistry}
        empty={<p className={css.lead}>{search.trim() === '' ? say.nothingIsListedYet : say.nothingMatches(search)}</p>}
      >
        {(items) => (
          <ul className={css.list} aria-label={say.listedAgents}>
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
        <small>{[say.runs(usageCount), ...tags].join(' · ')}</small>
      </div>
      {may('write') && (
        <Button
          aria-label={say.copy(name)}
          onClick={() => showDialog({ kind: 'copy', id, name, version: latestVersion })}
        >
          {say.copyButton}
        </Button>
      )}
    </li>
  );
}
