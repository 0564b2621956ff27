import { Ellipsis, Plus, Search } from 'lucide-react';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAgentListing, type Listing } from '../../api/listing';
import { useSession } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { AgentSummary } from '../../api/types';
import { showDialog } from '../../app/dialogs';
import { agentUrl, listUrl, versionsUrl } from '../../app/urlState';
import { agentsPanel as say } from '../../texts/agents';
import { Button, IconButton } from '../../ui/Button';
import { Menu } from '../../ui/Menu';
import panel from '../../ui/Panel.module.css';
import { agentEntries } from './agentMenu';
import css from './AgentsPanel.module.css';
import { LanguageMark } from './LanguageMark';

/** Every agent, or those that a token is for. */
export function AgentsPanel({ current }: { current?: string }) {
  const { mayAnywhere } = useRights();
  return mayAnywhere('read') ? <All {...(current === undefined ? {} : { current })} /> : <Few />;
}

/** Found by name, title, description or tag. */
function All({ current }: { current?: string }) {
  const [typed, setSearch] = useState('');
  const search = useDeferredValue(typed);
  const drafts = useAgentListing({ search, state: 'draft' });
  const published = useAgentListing({ search, state: 'published' });
  const [, navigate] = useLocation();
  const { may } = useRights();
  const none = [drafts, published].every((list) => list.kind === 'loaded' && list.items.length === 0);
  const failed = [drafts, published].find((list) => list.kind === 'failed');
  return (
    <section className={css.panel} aria-label={say.agents}>
      <div className={panel.head}>
        <h2 className={panel.title}>{say.agents}</h2>
        {may('write') && (
          <IconButton small label={say.newAgent} onClick={() => showDialog({ kind: 'new' })}>
            <Plus size={16} aria-hidden />
          </IconButton>
        )}
      </div>
      <div className={css.search}>
        <Search size={14} aria-hidden />
        <input
          type="search"
          aria-label={say.searchAgents}
          placeholder={say.placeholder}
          value={typed}
          onChange={(e) => setSearch(e.target.value)}
          onKeyDown={(e) => e.key === 'Escape' && setSearch('')}
        />
      </div>
      <div className={css.list}>
        {failed && <p className={css.none}>{say.notLoaded(failed.message)}</p>}
        {none && search === '' && <p className={css.none}>{say.noAgentsYet}</p>}
        {none && search !== '' && (
          <p className={css.none}>
            {say.nothingMatches(search)}{' '}
            <Button look="link" onClick={() => navigate(listUrl({ search, inCode: true }))}>
              {say.lookInCodeToo}
            </Button>
          </p>
        )}
        <Group title={say.drafts} listing={drafts} current={current} />
        <Group title={say.published} listing={published} current={current} />
      </div>
    </section>
  );
}

function Few() {
  const { may } = useRights();
  const agents = useSession().data?.agents ?? [];
  return (
    <section className={css.panel} aria-label={say.agents}>
      <div className={panel.head}>
        <h2 className={panel.title}>{say.agents}</h2>
      </div>
      <ul className={css.list}>
        {may('read') &&
          agents.map(({ id, name }) => (
            <li key={id} className={css.row}>
              <Link href={agentUrl(name)}>
                <span className={css.name}>{name}</span>
              </Link>
            </li>
          ))}
      </ul>
    </section>
  );
}

interface GroupProps {
  title: string;
  listing: Listing<AgentSummary>;
  current: string | undefined;
}

function Group({ title, listing, current }: GroupProps) {
  if (listing.kind !== 'loaded' || listing.items.length === 0) return null;
  const { items, more, reading } = listing;
  return (
    <>
      <h3 className={css.group}>
        {title}{' '}
        <span>
          {items.length}
          {more && '+'}
        </span>
      </h3>
      <ul>
        {items.map((agent) => (
          <Row key={agent.id} agent={agent} current={agent.name === current} />
        ))}
      </ul>
      {more && (
        <p className={css.none}>
          <Button look="link" disabled={reading} onClick={more}>
            {say.showMore}
          </Button>
        </p>
      )}
    </>
  );
}

function Row({ agent, current }: { agent: AgentSummary; current: boolean }) {
  const { id, name, title, language, latestVersion, listed, state } = agent;
  const [, navigate] = useLocation();
  const { may } = useRights();
  const here = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (current) here.current?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <li ref={here} className={css.row} data-current={current}>
      <Link href={agentUrl(name)} aria-current={current ? 'page' : undefined} title={title === '' ? name : title}>
        <LanguageMark language={language} />
        <span className={css.name}>{name}</span>
        {state === 'published' && (
          <span className={css.version}>{latestVersion === '' ? say.preRelease : latestVersion}</span>
        )}
      </Link>
      <Menu
        trigger={
          <IconButton small className={css.more} label={say.actionsFor(name)}>
            <Ellipsis size={16} aria-hidden />
          </IconButton>
        }
        entries={[
          { kind: 'item', label: say.versions, run: () => navigate(versionsUrl(name)) },
          { kind: 'rule' },
          ...agentEntries({ id, name, published: state === 'published', listed }, may('write')),
        ]}
      />
    </li>
  );
}
