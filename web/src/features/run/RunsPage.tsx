import { lazy, Suspense, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useAgentListing, useRunListing } from '../../api/listing';
import type { RunSummary } from '../../api/types';
import { useSearch } from '../../state/search';
import { runsPage as say } from '../../texts/runs';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { Field } from '../../ui/Field';
import { leaveFocus } from '../../ui/focusBack';
import { Listed } from '../../ui/Listed';
import { Steps } from '../../ui/Steps';
import sheet from '../../ui/Sheet.module.css';
import { useTypedSearch } from '../../ui/useTypedSearch';
import { Column, Page } from '../../frame/Page';
import { finalStatus } from '../../agent/runStatus';
import { LatencyChart } from './LatencyChart';
import { ranges, readRuns, runsUrl, sinceOf, statuses, type RunsState } from './runsState';
import { RunViews } from './RunViews';
import { RunsTable } from './RunsTable';
import { useNow } from './useNow';
import css from './RunsPage.module.css';

const CompareRuns = lazy(() => import('./CompareRuns').then((m) => ({ default: m.CompareRuns })));

/** Lists all runs of the workspace, newest first. */
export function RunsPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column wide>
        <Runs />
      </Column>
    </Page>
  );
}

function Runs() {
  const state = readRuns(useSearch());
  const [, navigate] = useLocation();
  const now = useNow();
  // The start of the time range does not change until the user changes the filter, so that all pages belong to one
  // list.
  const [since, setSince] = useState(() => ({ range: state.range, at: sinceOf(state, now) }));
  if (since.range !== state.range) setSince({ range: state.range, at: sinceOf(state, now) });
  const listing = useRunListing({ status: state.status ?? '', agent: state.agent ?? '', since: since.at });
  const narrowed = Object.keys(state).length > 0;
  const noRun = !narrowed && listing.kind === 'loaded' && listing.items.length === 0; // there are no runs to filter
  const go = (change: Partial<RunsState>): void => navigate(runsUrl({ ...state, ...change }), { replace: true });
  return (
    <section className={css.section}>
      <div className={css.head}>
        <div>
          <h1>{say.runs}</h1>
          <p className={css.lead}>{say.lead}</p>
        </div>
        {!noRun && <RunViews state={state} onOpen={(view) => navigate(runsUrl(view))} />}
      </div>
      <div className={css.filters} hidden={noRun}>
        <Field label={say.state} hideLabel>
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
        <Field label={say.since} hideLabel>
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
        <AgentField agent={state.agent ?? ''} onSet={(agent) => go({ agent: agent.trim() })} />
        {narrowed && (
          <Button ref={leaveFocus} look="quiet" onClick={() => navigate(runsUrl({}))}>
            {say.showAll}
          </Button>
        )}
      </div>
      <Listed
        listing={listing}
        what={say.theRuns}
        shape="table"
        empty={
          narrowed ? (
            <p className={css.lead}>{say.none}</p>
          ) : (
            <Steps
              title={say.noneYet}
              action={
                <Button look="primary" onClick={() => navigate('/')}>
                  {say.openAgents}
                </Button>
              }
            >
              {say.runOne}
              {say.callOne(<code>atelier run NAME@1.0.0</code>)}
              {say.connectOne}
            </Steps>
          )
        }
      >
        {(items) => <Found runs={items} now={now} more={listing.kind === 'loaded' && listing.more !== undefined} />}
      </Listed>
    </section>
  );
}

/** The filter by agent applies while the user types. The field suggests the agents of the workspace. */
function AgentField({ agent, onSet }: { agent: string; onSet: (agent: string) => void }) {
  const typed = useTypedSearch(agent, onSet);
  const agents = useAgentListing({ order: 'updated' });
  return (
    <Field label={say.agent} hideLabel>
      {(control) => (
        <>
          <input
            {...control}
            type="search"
            list="run-agents"
            placeholder={say.anyAgent}
            spellCheck={false}
            value={typed.text}
            onChange={(e) => typed.type(e.target.value)}
            onKeyDown={(e) => e.key === 'Enter' && typed.settle()}
          />
          <datalist id="run-agents">
            {agents.kind === 'loaded' && agents.items.map(({ id, name }) => <option key={id} value={name} />)}
          </datalist>
        </>
      )}
    </Field>
  );
}

function Found({ runs, now, more }: { runs: RunSummary[]; now: number; more: boolean }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [comparing, setComparing] = useState(false);
  // If the user selects a third run, it replaces the first.
  const choose = (runId: string, on: boolean): void =>
    setChosen((before) => (on ? [...before, runId].slice(-2) : before.filter((id) => id !== runId)));
  const [older, newer] = runs.filter(({ runId }) => chosen.includes(runId)).reverse();
  return (
    <>
      <LatencyChart runs={runs} />
      <div className={classes(sheet.bar, css.compare)}>
        <Button disabled={!older || !newer} onClick={() => setComparing(true)}>
          {say.compareTwo}
        </Button>
        <span className={sheet.quiet}>{say.chosen(chosen.length)}</span>
      </div>
      <RunsTable runs={runs} now={now} chosen={chosen} onChoose={choose} more={more} />
      {comparing && older && newer && (
        <Suspense>
          <CompareRuns older={older} newer={newer} onClose={() => setComparing(false)} />
        </Suspense>
      )}
    </>
  );
}
