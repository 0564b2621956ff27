import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useRunListing } from '../../api/listing';
import type { RunSummary } from '../../api/types';
import { useSearch } from '../../state/search';
import { runsPage as say } from '../../texts/runs';
import { ago, milliseconds } from '../../texts/format';
import { agentUrl, pinnedOf, runUrl, writeUrl } from '../../state/urlState';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { leaveFocus } from '../../ui/focusBack';
import { Listed } from '../../ui/Listed';
import { Column, Page } from '../../frame/Page';
import { hasEnded } from './history';
import { finalStatus } from '../../agent/runStatus';
import { ranges, readRuns, runsUrl, sinceOf, statuses, type RunsState } from './runsState';
import css from './RunsPage.module.css';

/** All runs of the workspace, newest first. */
export function RunsPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <Runs />
      </Column>
    </Page>
  );
}

function Runs() {
  const state = readRuns(useSearch());
  const [, navigate] = useLocation();
  const [now] = useState(() => Date.now());
  const listing = useRunListing({ status: state.status ?? '', agent: state.agent ?? '', since: sinceOf(state, now) });
  const narrowed = Object.keys(state).length > 0;
  const go = (change: Partial<RunsState>): void => navigate(runsUrl({ ...state, ...change }), { replace: true });
  return (
    <section className={css.section}>
      <div>
        <h1>{say.runs}</h1>
        <p className={css.lead}>{say.lead}</p>
      </div>
      <div className={css.filters}>
        <Field label={say.state}>
          {(control) => (
            <select {...control} value={state.status ?? ''} onChange={(e) => go({ status: e.target.value })}>
              <option value="">{say.any}</option>
              {statuses.map((status) => (
                <option key={status} value={status}>
                  {finalStatus({ status }).text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={say.since}>
          {(control) => (
            <select {...control} value={state.range ?? ''} onChange={(e) => go({ range: e.target.value })}>
              <option value="">{say.ever}</option>
              {ranges.map(({ range }) => (
                <option key={range} value={range}>
                  {say.ranges[range]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <AgentField key={state.agent} agent={state.agent ?? ''} onSet={(agent) => go({ agent })} />
      </div>
      <Listed
        listing={listing}
        what={say.theRuns}
        shape="table"
        empty={
          <p className={css.lead}>
            {narrowed ? say.none : say.noneYet}{' '}
            {narrowed && (
              <Button ref={leaveFocus} look="link" onClick={() => navigate(runsUrl({}))}>
                {say.showAll}
              </Button>
            )}
          </p>
        }
      >
        {(items) => <Table runs={items} now={now} />}
      </Listed>
    </section>
  );
}

/** The agent filter needs a complete name, so it applies on Enter. */
function AgentField({ agent, onSet }: { agent: string; onSet: (agent: string) => void }) {
  const [typed, setTyped] = useState(agent);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        onSet(typed.trim());
      }}
    >
      <Field label={say.agent}>
        {(control) => (
          <input
            {...control}
            type="search"
            placeholder={say.nameThenEnter}
            spellCheck={false}
            value={typed}
            onChange={(e) => setTyped(e.target.value)}
            onBlur={() => typed.trim() !== agent && onSet(typed.trim())}
          />
        )}
      </Field>
    </form>
  );
}

function Table({ runs, now }: { runs: RunSummary[]; now: number }) {
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={say.runs}>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">{say.state}</th>
            <th scope="col">{say.agent}</th>
            <th scope="col">{say.by}</th>
            <th scope="col">{say.time}</th>
            <th scope="col">{say.when}</th>
            <th scope="col">
              <span className="visually-hidden">{say.open}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => {
            const { text, look } = finalStatus(run);
            const version = pinnedOf(run.version);
            return (
              <tr key={run.runId}>
                <td className={css[look]}>{text}</td>
                <td className={css.name}>
                  {run.agent === '' ? (
                    <span className={css.quiet}>{say.inline(run.language)}</span>
                  ) : (
                    <Link href={agentUrl(run.agent, version) + writeUrl({ panel: 'result', run: run.runId })}>
                      {run.agent}
                      {version === undefined ? '' : `@${version}`}
                    </Link>
                  )}
                </td>
                <td className={css.quiet}>{run.trigger}</td>
                <td>{hasEnded(run) && milliseconds(run.totalMs)}</td>
                <td className={css.quiet}>{ago(run.createdAt, now)}</td>
                <td>
                  <Link href={runUrl(run.runId)} aria-label={say.openTheRun(ago(run.createdAt, now))}>
                    {say.open}
                  </Link>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
