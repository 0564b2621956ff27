import { Search, TriangleAlert, X } from 'lucide-react';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useRegistryListing } from '../../api/listing';
import { useSession } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { AgentSummary, Language } from '../../api/types';
import type { RegistryFilter } from '../../api/verbs';
import { showDialog } from '../../state/dialogs';
import { useSearch } from '../../state/search';
import { ago } from '../../texts/format';
import { registryPage as say } from '../../texts/registry';
import { Amount } from '../../ui/Amount';
import { Button } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { Field } from '../../ui/Field';
import { leaveFocus } from '../../ui/focusBack';
import { Listed } from '../../ui/Listed';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { useTypedSearch } from '../../ui/useTypedSearch';
import { languageNames } from '../../agent/starters';
import { LanguageMark } from '../../agent/LanguageMark';
import { Column, Page } from '../../frame/Page';
import entries from '../../ui/Entries.module.css';
import { ChooseToListDialog } from './ChooseToListDialog';
import css from './RegistryPage.module.css';
import { languages, listedUrl, readRegistry, registryUrl } from '../../state/registryUrl';

/** Shows the public registry. The user can search, read and copy agents of other workspaces. */
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
  // The first change of the search adds an entry to the browser's history. Later changes replace this entry.
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
  const { may } = useRights();
  const [choosing, setChoosing] = useState(false);
  const [now] = useState(() => Date.now());
  const own = useSession().data?.workspace;
  const narrowed = filter.search !== '' || language !== undefined || tag !== undefined;
  return (
    <section className={css.section}>
      <div className={entries.head}>
        <div>
          <h1>{say.publicRegistry}</h1>
          <p className={css.lead}>{say.lead}</p>
        </div>
        {may('write') && (
          <Button ref={leaveFocus} look="primary" onClick={() => setChoosing(true)}>
            {say.listAnAgent}
          </Button>
        )}
      </div>
      {choosing && <ChooseToListDialog onClose={() => setChoosing(false)} />}
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
            <span className={css.search}>
              <Search size={14} aria-hidden />
              <input
                {...control}
                type="search"
                placeholder={say.placeholder}
                maxLength={200}
                value={typed.text}
                onFocus={() => (begun.current = false)}
                onChange={(e) => typed.type(e.target.value)}
              />
            </span>
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
          narrowed ? (
            <p className={css.lead}>
              {say.nothingMatches}{' '}
              <Button ref={leaveFocus} look="link" onClick={() => navigate('/registry')}>
                {say.showAll}
              </Button>
            </p>
          ) : (
            <Steps title={say.nothingIsListedYet}>
              {say.publishIt}
              {say.listIt(say.listAnAgent)}
              {say.copyIt}
            </Steps>
          )
        }
      >
        {(items) => (
          <DataTable
            label={say.listedAgents}
            items={items}
            // The page cannot sort a list that has more pages.
            columns={columnsOf({
              now,
              most: items.length > 1 ? Math.max(1, ...items.map(({ usageCount }) => usageCount)) : 0,
              onTag: (one) => narrow({ tag: one }),
              whole: 'items' in listing && listing.more === undefined,
              own,
            })}
            rowKey={({ id }) => id}
          />
        )}
      </Listed>
    </section>
  );
}

interface Shown {
  now: number;
  /** The largest number of runs. */
  most: number;
  onTag: (tag: string) => void;
  /** Whether the list is complete. */
  whole: boolean;
  /** The current workspace. */
  own: { name: string; title: string } | undefined;
}

function columnsOf({ now, most, onTag, whole, own }: Shown): TableColumn<AgentSummary>[] {
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
      cell: ({ publisher }) => (publisher === own?.name ? own?.title : publisher),
    },
    {
      key: 'version',
      title: say.version,
      cell: ({ latestVersion, latestDeprecated }) => (
        <>
          {latestVersion}
          {latestDeprecated === true && (
            <div>
              <StateMark look="warn" icon={TriangleAlert}>
                {say.deprecated}
              </StateMark>
            </div>
          )}
        </>
      ),
    },
    {
      key: 'runs',
      title: say.runs,
      numeric: true,
      ...sorts(({ usageCount }) => -usageCount),
      cell: ({ usageCount }) => <Amount value={usageCount} most={most} />,
    },
    {
      key: 'changed',
      title: say.lastChange,
      ...sorts(({ updatedAt }) => -Date.parse(updatedAt)),
      cell: ({ updatedAt }) => ago(updatedAt, now),
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
        {title !== '' && title !== name && <span className={css.title}>{title}</span>}
        {description !== '' && description !== title && <p>{description}</p>}
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
