import { X } from 'lucide-react';
import { useDeferredValue, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useRegistryListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import type { AgentSummary, Language } from '../../api/types';
import type { RegistryFilter } from '../../api/verbs';
import { showDialog } from '../../state/dialogs';
import { useSearch } from '../../state/search';
import { registryPage as say } from '../../texts/registry';
import { Button } from '../../ui/Button';
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
          <ul className={css.list} aria-label={say.listedAgents}>
            {items.map((agent) => (
              <Row key={agent.id} agent={agent} onTag={(one) => narrow({ tag: one })} />
            ))}
          </ul>
        )}
      </Listed>
    </section>
  );
}

function Row({ agent, onTag }: { agent: AgentSummary; onTag: (tag: string) => void }) {
  const { id, publisher = '', name, title, description, language, latestVersion, tags, usageCount } = agent;
  const { may } = useRights();
  return (
    <li className={css.row}>
      <LanguageMark language={language} />
      <div className={css.about}>
        <div className={css.name}>
          <Link href={listedUrl(publisher, name)}>{name}</Link>
          <span className={css.version}>{latestVersion}</span>
          {agent.latestDeprecated === true && <span className={css.deprecated}>{say.deprecated}</span>}
        </div>
        <p>{description === '' ? title : description}</p>
        <small>{say.facts(publisher, usageCount)}</small>
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
