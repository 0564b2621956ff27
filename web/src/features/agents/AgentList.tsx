import { useDeferredValue, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { X } from 'lucide-react';
import { useAgentListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import type { AgentSummary } from '../../api/types';
import type { AgentFilter } from '../../api/verbs';
import { showDialog } from '../../app/dialogs';
import { ago, plural } from '../../app/format';
import { agentUrl, listUrl, type ListState } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { Check, Field } from '../../ui/Field';
import { classes } from '../../ui/classes';
import { Listed } from '../../ui/Listed';
import { exportArchive } from './agentMenu';
import css from './AgentList.module.css';
import { undelete } from './DeleteAgentDialog';
import { LanguageMark } from './LanguageMark';

/** The agents of the workspace, the last changed first, narrowed by what the address says. */
export function AgentList({ narrowed }: { narrowed: ListState }) {
  const [, navigate] = useLocation();
  const { may } = useRights();
  const [today] = useState(() => Date.now());
  const filter = filterOf(narrowed, today);
  // What is typed stands in the address at once; the server is asked when there is time.
  const listing = useAgentListing(useDeferredValue(filter));
  const narrow = (change: Partial<Record<keyof ListState, ListState[keyof ListState] | undefined>>): void =>
    navigate(listUrl({ ...narrowed, ...change } as ListState), { replace: true });
  const { search = '', inCode = false, state, tag, unused } = narrowed;
  return (
    <section className={css.section} aria-labelledby="agents">
      <div className={css.bar}>
        <h1 id="agents">Agents</h1>
        <span className={css.grow} />
        {may('approve') && <Button onClick={() => showDialog({ kind: 'import' })}>Import…</Button>}
        <Button onClick={() => exportArchive()}>Export all</Button>
        {may('write') && (
          <Button look="primary" onClick={() => showDialog({ kind: 'new' })}>
            New agent…
          </Button>
        )}
      </div>
      <div className={css.filters} role="search" aria-label="Agents">
        <Field label="Find agents" hideLabel>
          {(control) => (
            <input
              {...control}
              type="search"
              placeholder={inCode ? 'Name, title, description, tag or code' : 'Name, title, description or tag'}
              value={search}
              onChange={(e) => narrow({ search: e.target.value })}
            />
          )}
        </Field>
        <Check label="Also in code" checked={inCode} onChange={(yes) => narrow({ inCode: yes })} />
        <Field label="Which" hideLabel>
          {(control) => (
            <select
              {...control}
              value={state ?? ''}
              onChange={(e) => narrow({ state: e.target.value === '' ? undefined : e.target.value })}
            >
              <option value="">All</option>
              <option value="draft">Never published</option>
              <option value="published">Published</option>
              <option value="deleted">Deleted</option>
            </select>
          )}
        </Field>
        <Field label="Use" hideLabel>
          {(control) => (
            <select
              {...control}
              value={unused ?? 0}
              onChange={(e) => narrow({ unused: e.target.value === '0' ? undefined : Number(e.target.value) })}
            >
              <option value={0}>Used or not</option>
              {[7, 30, 90, 365].map((days) => (
                <option key={days} value={days}>
                  Not run for {days} days
                </option>
              ))}
            </select>
          )}
        </Field>
        {tag !== undefined && (
          <Button aria-label={`Any tag, not only ${tag}`} onClick={() => narrow({ tag: undefined })}>
            {tag}
            <X size={14} aria-hidden />
          </Button>
        )}
      </div>
      <Listed listing={listing} what="the agents" empty={<None narrowed={narrowed} />}>
        {(items) => (
          <ul className={css.list} aria-label={state === 'deleted' ? 'Deleted agents' : 'Agents found'}>
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

function filterOf({ search = '', inCode = false, state, tag = '', unused }: ListState, today: number): AgentFilter {
  const day = 86_400_000;
  const unusedSince = unused === undefined ? '' : new Date(today - unused * day).toISOString();
  return { search, inCode, state: state ?? '', tag, unusedSince, order: 'updated' };
}

function None({ narrowed: { search = '', inCode, state, unused } }: { narrowed: ListState }) {
  if (state === 'deleted' && search === '') return <p className={css.none}>No agent is deleted.</p>;
  if (unused !== undefined && search === '') return <p className={css.none}>Every agent was run since, or is newer.</p>;
  if (search === '') return <p className={css.none}>There is none.</p>;
  return (
    <p className={css.none}>
      Nothing matches “{search}”{inCode ? '.' : '; tick “Also in code” to look into the programs.'}
    </p>
  );
}

function Row({ agent, now, onTag }: { agent: AgentSummary; now: number; onTag: (tag: string) => void }) {
  const { name, title, description, language, latestVersion, tags, state } = agent;
  return (
    <li className={css.row}>
      <LanguageMark language={language} />
      <div className={css.about}>
        <Link href={agentUrl(name)}>{name}</Link>
        <p>{description === '' ? title : description}</p>
        {tags.length > 0 && (
          <div className={css.tags}>
            {tags.map((tag) => (
              <button key={tag} type="button" aria-label={`Only ${tag}`} onClick={() => onTag(tag)}>
                {tag}
              </button>
            ))}
          </div>
        )}
      </div>
      <span className={css.version}>
        {latestVersion === '' ? (state === 'draft' ? 'Draft' : 'Pre-release') : latestVersion}
      </span>
      <span className={css.use}>
        {agent.usageCount === 0 ? 'never run' : plural(agent.usageCount, 'run')}
        <small>
          {agent.lastUsedAt === undefined
            ? `changed ${ago(agent.updatedAt, now)}`
            : `last ${ago(agent.lastUsedAt, now)}`}
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
        <p>
          Deleted {ago(deletedAt, now)}
          {deletion && deletion.by !== '' && ` by ${deletion.by}`}
          {deletion && deletion.comment !== '' && `: ${deletion.comment}`}
        </p>
      </div>
      <span className={css.version}>{agent.latestVersion}</span>
      {may('write') && (
        <Button aria-label={`Bring back ${name}`} onClick={() => void undelete(id)}>
          Bring back
        </Button>
      )}
    </li>
  );
}
