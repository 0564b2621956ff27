import { useDeferredValue, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { X } from 'lucide-react';
import { useAgentListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import type { AgentSummary } from '../../api/types';
import type { AgentFilter } from '../../api/verbs';
import { showDialog } from '../../state/dialogs';
import { agentList as say } from '../../texts/agents';
import { ago } from '../../texts/format';
import { agentUrl, listUrl, type ListState } from '../../state/urlState';
import { Button } from '../../ui/Button';
import { leaveFocus } from '../../ui/focusBack';
import { Check, Field } from '../../ui/Field';
import { classes } from '../../ui/classes';
import { Listed } from '../../ui/Listed';
import sheet from '../../ui/Sheet.module.css';
import { useTypedSearch } from '../../ui/useTypedSearch';
import { exportArchive } from '../../agent/agentMenu';
import css from './AgentList.module.css';
import { restore } from '../../agent/restore';
import { LanguageMark } from '../../agent/LanguageMark';

/** The agents of the workspace, last changed first, with the filters of the address. */
export function AgentList({ narrowed }: { narrowed: ListState }) {
  const [, navigate] = useLocation();
  const { may } = useRights();
  const [today] = useState(() => Date.now());
  const { inCode = false, state, tag, unused } = narrowed;
  const typed = useTypedSearch(narrowed.search ?? '', (search) => narrow({ search }));
  const asked: ListState = { ...narrowed, search: typed.text };
  const narrow = (change: Partial<Record<keyof ListState, ListState[keyof ListState] | undefined>>): void =>
    navigate(listUrl({ ...asked, ...change } as ListState), { replace: true });
  const listing = useAgentListing(useDeferredValue(filterOf(asked, today)));
  return (
    <section className={sheet.section} aria-labelledby="agents">
      <div className={sheet.bar}>
        <h1 id="agents">{say.agents}</h1>
        <span className={sheet.grow} />
        {may('approve') && <Button onClick={() => showDialog({ kind: 'import' })}>{say.import}</Button>}
        <Button onClick={() => exportArchive()}>{say.exportAll}</Button>
        {may('write') && (
          <Button look="primary" onClick={() => showDialog({ kind: 'new' })}>
            {say.newAgent}
          </Button>
        )}
      </div>
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
        {(items) => (
          <ul className={css.list} aria-label={state === 'deleted' ? say.deletedAgents : say.agentsFound}>
            {items.map((agent) =>
              state === 'deleted' ? (
                <Tombstone key={agent.id} agent={agent} now={today} />
              ) : (
                <Row key={agent.id} agent={agent} now={today} onTag={(t) => narrow({ tag: t })} />
              ),
            )}
          </ul>
        )}
      </Listed>
    </section>
  );
}

/** Only active filters, so that every unfiltered list shares one query. */
function filterOf({ search = '', inCode = false, state, tag = '', unused }: ListState, today: number): AgentFilter {
  const day = 86_400_000;
  return {
    order: 'updated',
    ...(search !== '' && { search }),
    ...(inCode && { inCode }),
    ...(state !== undefined && { state }),
    ...(tag !== '' && { tag }),
    ...(unused !== undefined && { unusedSince: new Date(today - unused * day).toISOString() }),
  };
}

function None({ narrowed: { search = '', inCode, state, unused } }: { narrowed: ListState }) {
  if (state === 'deleted' && search === '') return <p className={css.none}>{say.noAgentIsDeleted}</p>;
  if (unused !== undefined && search === '') return <p className={css.none}>{say.noneUnused}</p>;
  if (search === '') return <p className={css.none}>{say.none}</p>;
  return <p className={css.none}>{inCode ? say.nothingMatches(search) : say.lookInCode(search)}</p>;
}

function Row({ agent, now, onTag }: { agent: AgentSummary; now: number; onTag: (tag: string) => void }) {
  const { name, title, description, language, latestVersion, tags, state } = agent;
  return (
    <li className={css.row}>
      <LanguageMark language={language} />
      <div className={css.about}>
        <div className={css.tags}>
          <Link href={agentUrl(name)}>{name}</Link>
          {tags.map((tag) => (
            <button key={tag} type="button" aria-label={say.only(tag)} onClick={() => onTag(tag)}>
              {tag}
            </button>
          ))}
        </div>
        <p dir="auto">{description === '' ? title : description}</p>
      </div>
      <span className={css.version}>
        {latestVersion === '' ? (state === 'draft' ? say.draft : say.preRelease) : latestVersion}
      </span>
      <span className={css.use}>
        {agent.usageCount === 0 ? say.neverRun : say.runs(agent.usageCount)}
        <small>
          {agent.lastUsedAt === undefined
            ? say.changed(ago(agent.updatedAt, now))
            : say.last(ago(agent.lastUsedAt, now))}
        </small>
      </span>
    </li>
  );
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
