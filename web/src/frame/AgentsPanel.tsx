import { CircleX, Ellipsis, Plus, Search, Tag } from 'lucide-react';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAgentListing, type Listing } from '../api/listing';
import { useFacts, useSession, useTags } from '../api/queries';
import { useRights } from '../api/rights';
import type { AgentSummary } from '../api/types';
import { showDialog } from '../state/dialogs';
import { toggleFavourite, useFavouriteIds, useIsFavourite } from '../state/favourites';
import { setLayout, useLayout } from '../state/layout';
import { agentUrl, listUrl, versionsUrl } from '../state/urlState';
import { agentsPanel as say } from '../texts/agents';
import { listed } from '../texts/ui';
import { Button, IconButton } from '../ui/Button';
import { leaveFocus } from '../ui/focusBack';
import { Menu } from '../ui/Menu';
import { Retry } from '../ui/Retry';
import { Waiting } from '../ui/Waiting';
import panel from '../ui/Panel.module.css';
import { agentEntries } from '../agent/agentMenu';
import css from './AgentsPanel.module.css';
import { LanguageMark } from '../agent/LanguageMark';

/** Lists all agents, or those to which a token gives access. */
export function AgentsPanel({ current }: { current?: string }) {
  const { mayAnywhere } = useRights();
  return mayAnywhere('read') ? <All {...(current === undefined ? {} : { current })} /> : <Few />;
}

/** The search compares name, title, description and tags. */
function All({ current }: { current?: string }) {
  const [typed, setSearch] = useState('');
  const search = useDeferredValue(typed);
  const chosen = useLayout((layout) => layout.tag);
  const tags = useTags().data ?? [];
  // A stored tag that no agent has would hide all agents, so it is ignored.
  const tag = tags.some((one) => one.tag === chosen) ? chosen : '';
  const drafts = useAgentListing({ search, state: 'draft', ...(tag !== '' && { tag }) });
  const published = useAgentListing({ search, state: 'published', ...(tag !== '' && { tag }) });
  const [, navigate] = useLocation();
  const { may } = useRights();
  const none = [drafts, published].every((list) => list.kind === 'loaded' && list.items.length === 0);
  const failed = [drafts, published].find((list) => list.kind === 'failed');
  // While the list is being loaded, it is not known whether it contains the open agent.
  const settled = [drafts, published].every((list) => list.kind !== 'waiting');
  const unread = settled && [drafts, published].some((list) => list.kind === 'loaded' && list.more !== undefined);
  const here = [drafts, published].some((list) => list.kind === 'loaded' && list.items.some(isNamed(current)));
  const favourites = useFavourites([drafts, published]);
  const list = useRef<HTMLDivElement>(null);
  // Each list pushes the content below it.
  useEffect(() => {
    list.current?.querySelector('[data-current=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current, drafts.kind, published.kind]);
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
      {tags.length > 0 && <TagFilter tags={tags} tag={tag} />}
      <div className={css.list} ref={list}>
        {current !== undefined && search === '' && tag === '' && unread && !here && <FarDown name={current} />}
        {failed && (
          <p className={css.none}>
            {say.notLoaded(failed.message)} <Retry look="link" onRetry={failed.retry} />
          </p>
        )}
        {none && search === '' && <p className={css.none}>{say.noAgentsYet}</p>}
        {none && search !== '' && (
          <p className={css.none}>
            {say.nothingMatches(search)}{' '}
            <Button look="link" onClick={() => navigate(listUrl({ search, inCode: true }))}>
              {say.lookInCodeToo}
            </Button>
          </p>
        )}
        {drafts.kind === 'waiting' && published.kind === 'waiting' && (
          <Waiting shape="names" what={say.theAgents} retry />
        )}
        {favourites.length > 0 && (
          <>
            <h3 className={css.group}>{say.favourites}</h3>
            <ul>
              {favourites.map((agent) => (
                <Row key={agent.id} agent={agent} current={agent.name === current} />
              ))}
            </ul>
          </>
        )}
        <Group title={say.drafts} listing={drafts} current={current} />
        <Group title={say.published} listing={published} current={current} />
      </div>
    </section>
  );
}

/** Selects a tag, so that the panel lists only the agents with this tag. The selection is stored. */
function TagFilter({ tags, tag }: { tags: { tag: string; count: number }[]; tag: string }) {
  return (
    <div className={css.tags}>
      <Tag size={14} aria-hidden />
      <select aria-label={say.tag} value={tag} onChange={(e) => setLayout({ tag: e.target.value })}>
        <option value="">{say.allTags}</option>
        {tags.map((one) => (
          <option key={one.tag} value={one.tag}>
            {say.tagWithCount(one.tag, one.count)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Lists the favourites among the loaded agents, in the order in which the user marked them. */
function useFavourites(lists: Listing<AgentSummary>[]): AgentSummary[] {
  const ids = useFavouriteIds();
  const loaded = lists.flatMap((list) => (list.kind === 'loaded' ? list.items : []));
  return ids.flatMap((id) => loaded.find((agent) => agent.id === id) ?? []);
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

const isNamed =
  (name: string | undefined) =>
  (agent: AgentSummary): boolean =>
    agent.name === name;

/** Shows the open agent, if the loaded part of the lists does not contain it. */
function FarDown({ name }: { name: string }) {
  const { data } = useFacts(name);
  if (!data) return null;
  const { draft, latestVersion } = data;
  const state = latestVersion === '' ? 'draft' : 'published';
  return (
    <>
      <h3 className={css.group}>{say.open}</h3>
      <ul>
        <Row agent={{ ...data, language: draft.language, state }} current />
      </ul>
    </>
  );
}

interface GroupProps {
  title: string;
  listing: Listing<AgentSummary>;
  current: string | undefined;
}

function Group({ title, listing, current }: GroupProps) {
  if (listing.kind !== 'loaded' || listing.items.length === 0) return null;
  const { items, more, reading, fault } = listing;
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
          {fault !== undefined && <span role="alert">{listed.moreNotLoaded(fault)} </span>}
          <Button ref={leaveFocus} look="link" onClick={more}>
            {reading ? listed.loading : listed.showMore}
          </Button>
        </p>
      )}
    </>
  );
}

type Shown = Pick<AgentSummary, 'id' | 'name' | 'title' | 'language' | 'latestVersion' | 'listed' | 'state'> &
  Partial<Pick<AgentSummary, 'unpublishedChanges' | 'lastRun'>>;

function Row({ agent, current }: { agent: Shown; current: boolean }) {
  const { id, name, title, language, latestVersion, listed, state } = agent;
  const [, navigate] = useLocation();
  const { may } = useRights();
  const favourite = useIsFavourite(id);
  return (
    <li className={css.row} data-current={current}>
      <Link href={agentUrl(name)} aria-current={current ? 'page' : undefined} title={title === '' ? name : title}>
        <LanguageMark language={language} />
        <span className={css.name}>{name}</span>
        <Marks agent={agent} />
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
          {
            kind: 'item',
            label: favourite ? say.removeFavourite : say.addFavourite,
            run: () => toggleFavourite(id),
          },
          { kind: 'rule' },
          ...agentEntries({ id, name, published: state === 'published', listed }, may('write')),
        ]}
      />
    </li>
  );
}

/** Shows a dot for unpublished changes, and a sign for a failed last run. */
function Marks({ agent: { unpublishedChanges = false, lastRun } }: { agent: Shown }) {
  const failing = lastRun !== undefined && lastRun.status !== 'succeeded';
  return (
    <>
      {unpublishedChanges && (
        <span className={css.changed} title={say.unpublishedChanges}>
          <span className="visually-hidden">, {say.unpublishedChanges}</span>
        </span>
      )}
      {failing && (
        <span className={css.failing} title={say.lastRunFailed}>
          <CircleX size={12} aria-hidden />
          <span className="visually-hidden">, {say.lastRunFailed}</span>
        </span>
      )}
    </>
  );
}
