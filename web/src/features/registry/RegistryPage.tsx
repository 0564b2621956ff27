import { X } from 'lucide-react';
import { useDeferredValue, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useRegistryListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import type { AgentSummary, Language } from '../../api/types';
import type { RegistryFilter } from '../../api/verbs';
import { showDialog } from '../../state/dialogs';
import { useSearch } from '../../state/search';
import { number } from '../../texts/format';
import { registryPage as say } from '../../texts/registry';
import { Button } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { Field } from '../../ui/Field';
import { leaveFocus } from '../../ui/focusBack';
import { Listed } from '../../ui/Listed';
import { useTypedSearch } from '../../ui/useTypedSearch';
import { languageNames } from '../../agent/starters';
import { LanguageMark } from '../../agent/LanguageMark';
import { Column, Page } from '../../frame/Page';
import css from './RegistryPage.module.css';
import { languages, listedUrl, readRegistry, registryUrl } from '../../state/registryUrl';

/** The public registry: search, read and copy agents of other workspaces. */
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
  const said = readRegistry(useSearch());
  const { search = '', language, tag } = said;
  // The first change of the search adds a history entry; later changes replace it.
  const begun = useRef(false);
  const typed = useTypedSearch(search, (text) => {
    navigate(registryUrl({ ...said, search: text }), { replace: begun.current });
    begun.current = true;
  });
  const narrow = ({ language: lang = language, tag: only = tag }: { language?: Language | ''; tag?: string }): void =>
    navigate(
      registryUrl({
        search: typed.text,
        tag: only ?? '',
        ...(lang === undefined || lang === '' ? {} : { language: lang }),
      }),
    );
  const filter: RegistryFilter = { ...said, search: typed.text.trim() };
  const listing = useRegistryListing(useDeferredValue(filter));
  const narrowed = filter.search !== '' || language !== undefined || tag !== undefined;
  return (
    <section className={css.section}>
      <div>
        <h1>{say.publicRegistry}</h1>
        <p className={css.lead}>{say.lead}</p>
      </div>
      <form
        className={css.filters}
        role="search"
        aria-label={say.publicRegistry}
        onSubmit={(e) => {
          e.preventDefault();
          typed.settle();
        }}
      >
        <Field label={say.searchTheRegistry} hideLabel>
          {(control) => (
            <input
              {...control}
              type="search"
              placeholder={say.placeholder}
              maxLength={200}
              value={typed.text}
              onFocus={() => (begun.current = false)}
              onChange={(e) => typed.type(e.target.value)}
            />
          )}
        </Field>
        <Field label={say.language} hideLabel>
          {(control) => (
            <select
              {...control}
              value={language ?? ''}
              onChange={(e) => narrow({ language: e.target.value as Language })}
            >
              <option value="">{say.allLanguages}</option>
              {languages.map((one) => (
                <option key={one} value={one}>
                  {languageNames[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {tag !== undefined && (
          <Button ref={leaveFocus} aria-label={say.anyTagNotOnly(tag)} onClick={() => narrow({ tag: '' })}>
            {tag}
            <X size={14} aria-hidden />
          </Button>
        )}
      </form>
      <Listed
        listing={listing}
        what={say.theRegistry}
        empty={
          <p className={css.lead}>
            {narrowed ? say.nothingMatches : say.nothingIsListedYet}{' '}
            {narrowed && (
              <Button ref={leaveFocus} look="link" onClick={() => navigate('/registry')}>
                {say.showAll}
              </Button>
            )}
          </p>
        }
      >
        {(items) => (
          <DataTable
            label={say.listedAgents}
            items={items}
            // A list that has more pages cannot be sorted here.
            columns={columnsOf((one) => narrow({ tag: one }), 'items' in listing && listing.more === undefined)}
            rowKey={({ id }) => id}
          />
        )}
      </Listed>
    </section>
  );
}

function columnsOf(onTag: (tag: string) => void, whole: boolean): TableColumn<AgentSummary>[] {
  const sorts = (by: NonNullable<TableColumn<AgentSummary>['by']>) => (whole ? { by } : {});
  return [
    {
      key: 'name',
      title: say.agent,
      ...sorts(({ name }) => name),
      cell: (agent) => <About agent={agent} onTag={onTag} />,
    },
    {
      key: 'publisher',
      title: say.publisher,
      ...sorts(({ publisher = '' }) => publisher),
      cell: ({ publisher }) => publisher,
    },
    {
      key: 'version',
      title: say.version,
      cell: ({ latestVersion, latestDeprecated }) => (
        <>
          {latestVersion}
          {latestDeprecated === true && <small className={css.deprecated}>{say.deprecated}</small>}
        </>
      ),
    },
    {
      key: 'runs',
      title: say.runs,
      ...sorts(({ usageCount }) => -usageCount),
      cell: ({ usageCount }) => number(usageCount),
    },
    { key: 'acts', title: say.actions, acts: true, cell: (agent) => <Copy agent={agent} /> },
  ];
}

function About({ agent, onTag }: { agent: AgentSummary; onTag: (tag: string) => void }) {
  const { publisher = '', name, title, description, language, tags } = agent;
  return (
    <div className={css.row}>
      <LanguageMark language={language} />
      <div className={css.about}>
        <Link className={css.name} href={listedUrl(publisher, name)}>
          {name}
        </Link>
        <p>{description === '' ? title : description}</p>
        {tags.length > 0 && (
          <ul className={css.tags}>
            {tags.map((one) => (
              <li key={one}>
                <button type="button" aria-label={say.onlyTag(one)} onClick={() => onTag(one)}>
                  {one}
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function Copy({ agent: { id, name, latestVersion } }: { agent: AgentSummary }) {
  const { may } = useRights();
  if (!may('write')) return null;
  return (
    <Button aria-label={say.copy(name)} onClick={() => showDialog({ kind: 'copy', id, name, version: latestVersion })}>
      {say.copyButton}
    </Button>
  );
}
