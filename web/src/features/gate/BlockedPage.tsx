import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { ApiError, explain } from '../../api/http';
import { useBlockedListing } from '../../api/listing';
import { refreshBlocked, useRunState } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { BlockedRequest } from '../../api/types';
import { decideBlocked } from '../../api/verbs';
import { RunMark } from '../../agent/RunMark';
import { Column, Page } from '../../frame/Page';
import { notify } from '../../state/notices';
import { moment } from '../../texts/format';
import { blockedPage as say, gateNav } from '../../texts/gate';
import { Button } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { Fault } from '../../ui/Fault';
import { leaveFocus } from '../../ui/focusBack';
import { Listed } from '../../ui/Listed';
import { EmptyBox } from '../../ui/Steps';
import entries from '../../ui/Entries.module.css';
import { GateNav } from '../../verdict/GateNav';
import css from './BlockedPage.module.css';

/** Lists the runs that the policy service denied. */
export function BlockedPage() {
  const [all, setAll] = useState(false);
  // If the user decides about a request, the request stays in the list with its result until the user leaves the page.
  const [decided, setDecided] = useState<readonly BlockedRequest[]>([]);
  const listing = useBlockedListing(all);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const shown = listing.kind === 'loaded' ? { ...listing, items: merged(listing.items, all ? [] : decided) } : listing;
  return (
    <Page>
      <Column>
        <GateNav />
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.title}</h1>
              <p className={entries.lead}>{say.lead}</p>
            </div>
            <Choices
              label={say.show}
              choices={[
                { value: 'waiting', label: say.waiting },
                { value: 'all', label: say.all },
              ]}
              value={all ? 'all' : 'waiting'}
              onChange={(value) => setAll(value === 'all')}
            />
          </div>
          <Listed listing={shown} what={say.theRequests} empty={<None />}>
            {(items) => (
              <ul className={entries.list} aria-label={say.title}>
                {items.map((one) => (
                  <Row
                    key={one.id}
                    request={one}
                    onDecided={(now) => setDecided((before) => [...before.filter(({ id }) => id !== now.id), now])}
                  />
                ))}
              </ul>
            )}
          </Listed>
        </section>
      </Column>
    </Page>
  );
}

/** Inserts the decided requests at their positions in the list, newest first. */
function merged(listed: BlockedRequest[], decided: readonly BlockedRequest[]): BlockedRequest[] {
  const others = listed.filter(({ id }) => !decided.some((one) => one.id === id));
  return [...others, ...decided].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
}

function None() {
  return (
    <EmptyBox title={say.nothing}>
      <p>{say.ask(<code>--policy-url</code>, <code>ATELIER_POLICY_URL</code>)}</p>
      <p>{say.noService(<Link href="/approvals">{gateNav.approvals}</Link>)}</p>
    </EmptyBox>
  );
}

interface RowProps {
  request: BlockedRequest;
  onDecided: (now: BlockedRequest) => void;
}

function Row({ request, onDecided }: RowProps) {
  const { id, agent, version, status, runId, reason, remedy, policyVersion, requester, createdAt, expiresAt } = request;
  const what = agent === '' ? say.inlineCode : `${agent}@${version}`;
  const { may, why } = useRights();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const [dropping, setDropping] = useState(false);
  const decide = async (action: 'resubmit' | 'drop'): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      onDecided(await decideBlocked(id, action));
      notify('done', action === 'resubmit' ? say.resubmitted : say.dropped);
    } catch (error) {
      setFault(refusal(error));
    }
    setBusy(false);
    await refreshBlocked();
  };
  const off = { disabled: busy || !may('approve'), title: may('approve') ? undefined : why('approve') };
  return (
    <li className={entries.row}>
      <div className={entries.about}>
        <strong>{say.run(what)}</strong>
        <dl className={css.why}>
          <dt>{say.reason}</dt>
          <dd>{reason}</dd>
          {remedy !== undefined && (
            <>
              <dt>{say.remedy}</dt>
              <dd>{remedy}</dd>
            </>
          )}
        </dl>
        <small>
          {say.by(requester.name, moment(createdAt))}
          {status === 'blocked' && ` · ${say.until(moment(expiresAt))}`}
        </small>
        <small title={policyVersion}>
          {say.policy} <code>{policyVersion.replace('sha256:', '').slice(0, 12)}</code>
        </small>
        <small>
          <Link href={`/runs/${encodeURIComponent(runId)}`}>{say.openBlocked}</Link>
        </small>
        {status !== 'blocked' && <Result request={request} />}
        <Fault message={fault} />
      </div>
      {status === 'blocked' && (
        <div className={entries.acts}>
          <Button ref={leaveFocus} {...off} aria-label={say.dropNamed(what)} onClick={() => setDropping(true)}>
            {say.drop}
          </Button>
          <Button
            ref={leaveFocus}
            look="primary"
            {...off}
            aria-label={say.resubmitNamed(what)}
            onClick={() => void decide('resubmit')}
          >
            {say.resubmit}
          </Button>
        </div>
      )}
      {dropping && (
        <ConfirmDialog
          title={say.dropTitle(what)}
          about={say.dropAbout}
          verb={say.drop}
          onClose={() => setDropping(false)}
          onConfirm={() => void decide('drop')}
        />
      )}
    </li>
  );
}

/** The policy service may deny the run again. Then the text contains the remedy. */
function refusal(error: unknown): string {
  const remedy = error instanceof ApiError ? error.problem['remedy'] : undefined;
  return say.refused(explain(error), typeof remedy === 'string' ? remedy : '');
}

/** Shows the result of a request that was submitted again or dropped. */
function Result({ request }: { request: BlockedRequest }) {
  const { status, decider, decidedAt, resubmittedRunId: id, outcome } = request;
  const state = say.states[status];
  return (
    <div className={css.result} role="status">
      <span>{decider && decidedAt !== undefined ? say.decided(state, decider.name, moment(decidedAt)) : state}</span>
      {id === undefined ? outcome !== undefined && <span>{outcome}</span> : <Resubmitted id={id} />}
    </div>
  );
}

function Resubmitted({ id }: { id: string }) {
  const run = useRunState(id);
  return (
    <>
      {run.data && <RunMark run={run.data} />}
      <Link href={`/runs/${encodeURIComponent(id)}`}>{say.openRun}</Link>
    </>
  );
}
