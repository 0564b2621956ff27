import { Link } from 'wouter';
import { useAgentListing } from '../../api/listing';
import { agentViews, listUrl, type AgentView, type ListState } from '../../state/urlState';
import { agentList as say } from '../../texts/agents';
import css from './AgentList.module.css';

/**
 * Shows links to the views of the list: all agents, the user's own, changed and failing agents. The last three have a
 * number.
 */
export function AgentViews({ narrowed }: { narrowed: ListState }) {
  const { view, ...others } = narrowed;
  const link = (to: AgentView | undefined) => ({
    href: listUrl(to === undefined ? others : { ...others, view: to }),
    'aria-current': to === view ? ('page' as const) : undefined,
  });
  return (
    <nav className={css.views} aria-label={say.views}>
      <Link {...link(undefined)}>{say.allAgents}</Link>
      {agentViews.map((to) => (
        <Link key={to} {...link(to)}>
          {say.viewNames[to]}
          {to !== 'mine' && <Count of={to} />}
        </Link>
      ))}
    </nav>
  );
}

/** Shows the number of agents in a view, unless the number is 0. */
function Count({ of }: { of: 'changed' | 'failing' }) {
  const listing = useAgentListing({ view: of });
  if (listing.kind !== 'loaded' || listing.items.length === 0) return null;
  return (
    <span className={css.count} data-view={of}>
      {listing.items.length}
      {listing.more && '+'}
    </span>
  );
}
