import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { X } from 'lucide-react';
import { useAgentListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import type { AgentSummary } from '../../api/types';
import type { AgentFilter } from '../../api/verbs';
import { showDialog } from '../../state/dialogs';
import { agentList as say } from '../../texts/agents';
import { ago } from '../../texts/format';
import { listUrl, type ListState } from '../../state/urlState';
import { Button } from '../../ui/Button';
import { leaveFocus } from '../../ui/focusBack';
import { Check, Field } from '../../ui/Field';
import { classes } from '../../ui/classes';
import { Listed } from '../../ui/Listed';
import sheet from '../../ui/Sheet.module.css';
import { useTypedSearch } from '../../ui/useTypedSearch';
import { exportArchive } from '../../agent/agentMenu';
import { AgentRow } from './AgentRow';
import { AgentViews } from './AgentViews';
import { isBuiltIn } from './builtIn';
import css from './AgentList.module.css';
import { restore } from '../../agent/restore';
import { LanguageMark } from '../../agent/LanguageMark';

/**
 * Lists the agents of the workspace, last changed first. The URL contains the filters. The element `second` follows the
 * samples.
 */
export function AgentList({ narrowed, second = false }: { narrowed: ListState; second?: boolean }) {
  const [, navigate] = useLocation();
  const { may } = useRights();
  const [today] = useState(() => Date.now());
  const { inCode = false, state, tag, unused } = narrowed;
  const typed = useTypedSearch(narrowed.search ?? '', (search) => narrow({ search }));
  const asked: ListState = { ...narrowed, search: typed.text };
  const narrow = (change: Partial<Record<keyof ListState, ListState[keyof ListState] | undefined>>): void =>
    navigate(listUrl({ ...asked, ...change } as ListState), { replace: true });
  const listing = useAgentListing(useDeferredValue(filterOf(asked, today)));
  const Title = second ? 'h2' : 'h1';
  return (
    <section className={sheet.section}>
      <div className={sheet.bar}>
        <Title>{say.agents}</Title>
        <span className={sheet.grow} />
        {may('approve') && (
          <Button look="quiet" onClick={() => showDialog({ kind: 'import' })}>
            {say.import}
          </Button>
        )}
        <Button look="quiet" onClick={() => exportArchive()}>
          {say.exportAll}
        </Button>
        {may('write') && !second && (
          <Button look="primary" onClick={() => showDialog({ kind: 'new' })}>
            {say.newAgent}
          </Button>
        )}
      </div>
      <AgentViews narrowed={asked} />
      <div className={css.filters} role="search" aria-label={say.agents}>
        <Field label={say.findAgents} hideLabel>
          {(control) => (
            <input
              {...control}
              type="search"
              placeholder={inCode ? say.findInAll : say.findInWords}
              value={typed.text}
              onChange={(e) => typed.type(e.target.value)}
              onKeyDown={(e) => e.key === 'Enter' && typed.settle()}
            />
          )}
        </Field>
        <Check label={say.alsoInCode} checked={inCode} onChange={(yes) => narrow({ inCode: yes })} />
        <Field label={say.which} hideLabel>
          {(control) => (
            <select
              {...control}
              value={state ?? ''}
              onChange={(e) => narrow({ state: e.target.value === '' ? undefined : e.target.value })}
            >
              <option value="">{say.all}</option>
              <option value="draft">{say.neverPublished}</option>
              <option value="published">{say.published}</option>
              <option value="deleted">{say.deleted}</option>
            </select>
          )}
        </Field>
        <Field label={say.use} hideLabel>
          {(control) => (
            <select
              {...control}
              value={unused ?? 0}
              onChange={(e) => narrow({ unused: e.target.value === '0' ? undefined : Number(e.target.value) })}
            >
              <option value={0}>{say.usedOrNot}</option>
              {[7, 30, 90, 365].map((days) => (
                <option key={days} value={days}>
                  {say.notRunForDays(days)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {tag !== undefined && (
          <Button ref={leaveFocus} aria-label={say.anyTagNotOnly(tag)} onClick={() => narrow({ tag: undefined })}>
            {tag}
            <X size={14} aria-hidden />
          </Button>
        )}
      </div>
      <Listed listing={listing} what={say.theAgents} empty={<None narrowed={asked} />}>
        {(items) =>
          state === 'deleted' ? (
            <ul className={css.list} aria-label={say.deletedAgents}>
              {items.map((agent) => (
                <Tombstone key={agent.id} agent={agent} now={today} />
              ))}
            </ul>
          ) : (
            <Rows
              items={items}
              now={today}
              apart={Object.keys(asked).every((key) => key === 'search') && typed.text === ''}
              onTag={(t) => narrow({ tag: t })}
            />
          )
        }
      </Listed>
    </section>
  );
}

/** Agents that the server installed are in a separate list, unless a filter is set. */
function Rows({
  items,
  now,
  apart,
  onTag,
}: {
  items: AgentSummary[];
  now: number;
  apart: boolean;
  onTag: (tag: string) => void;
}) {
  const row = (agent: AgentSummary) => <AgentRow key={agent.id} agent={agent} now={now} onTag={onTag} />;
  const builtIn = apart ? items.filter(isBuiltIn) : [];
  const own = items.filter((agent) => !builtIn.includes(agent));
  return (
    <>
      {own.length > 0 && (
        <ul className={css.list} aria-label={say.agentsFound}>
          {own.map(row)}
        </ul>
      )}
      {builtIn.length > 0 && (
        <>
          <div className={css.group}>
            <h2>{say.builtIn}</h2>
            <p>{say.builtInLead}</p>
          </div>
          <ul className={css.list} aria-label={say.builtIn}>
            {builtIn.map(row)}
          </ul>
        </>
      )}
    </>
  );
}

/** Returns only the filters that are set, so that all lists without filters share one query. */
function filterOf(
  { search = '', inCode = false, state, tag = '', view, unused }: ListState,
  today: number,
): AgentFilter {
  const day = 86_400_000;
  return {
    order: 'updated',
    ...(search !== '' && { search }),
    ...(inCode && { inCode }),
    ...(state !== undefined && { state }),
    ...(tag !== '' && { tag }),
    ...(view !== undefined && { view }),
    ...(unused !== undefined && { unusedSince: new Date(today - unused * day).toISOString() }),
  };
}

function None({ narrowed: { search = '', inCode, state, view, unused } }: { narrowed: ListState }) {
  if (state === 'deleted' && search === '') return <p className={css.none}>{say.noAgentIsDeleted}</p>;
  if (view !== undefined && search === '') return <p className={css.none}>{say.noneOf[view]}</p>;
  if (unused !== undefined && search === '') return <p className={css.none}>{say.noneUnused}</p>;
  if (search === '') return <p className={css.none}>{say.none}</p>;
  return <p className={css.none}>{inCode ? say.nothingMatches(search) : say.lookInCode(search)}</p>;
}

function Tombstone({ agent, now }: { agent: AgentSummary; now: number }) {
  const { id, name, language, deletedAt = '', deletion } = agent;
  const { may } = useRights();
  return (
    <li className={classes(css.row, css.gone)}>
      <LanguageMark language={language} />
      <div className={css.about}>
        <strong>{name}</strong>
        <p>{say.deletedWhen(ago(deletedAt, now), deletion?.by ?? '', deletion?.comment ?? '')}</p>
      </div>
      <span className={css.version}>{agent.latestVersion}</span>
      {may('write') && (
        <Button ref={leaveFocus} aria-label={say.restore(name)} onClick={() => void restore(id)}>
          {say.restoreButton}
        </Button>
      )}
    </li>
  );
}
