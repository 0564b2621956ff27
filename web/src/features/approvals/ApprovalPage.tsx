import { TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../api/http';
import { stringifyJson } from '../../api/json';
import {
  refreshAgents,
  refreshApprovals,
  useApproval,
  useApprovalDiff,
  useDeliveries,
  useMembers,
} from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Approval, ApprovalDetails, Delivery } from '../../api/types';
import { decideApproval, type ApprovalDecision } from '../../api/verbs';
import { Changes } from '../../diff/Changes';
import bar from '../../diff/Bar.module.css';
import { Column, Page } from '../../frame/Page';
import { notify } from '../../state/notices';
import { approvalsPage as say } from '../../texts/approvals';
import { moment } from '../../texts/format';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { Field } from '../../ui/Field';
import { JsonText } from '../../ui/JsonText';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { PackageChanges } from '../../agent/PackageChanges';
import { VerdictView } from '../../verdict/VerdictView';
import css from './ApprovalPage.module.css';
import { ApprovalState } from './ApprovalState';
import { subjectOf } from './subject';
import { withoutRepeats } from './repeats';

/** Shows one request for approval with its reasons, findings and input, and the buttons for the decision. */
export function ApprovalPage({ id }: { id: string }) {
  const found = useApproval(id);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column back={{ to: '/approvals', label: say.back }}>
        {found.isPending && <Waiting shape="page" what={say.theApproval} retry />}
        <NotLoaded found={found} why={say.notLoaded} />
        {found.data && <Request approval={found.data} />}
      </Column>
    </Page>
  );
}

function Request({ approval }: { approval: ApprovalDetails }) {
  const {
    requester,
    createdAt,
    expiresAt,
    status,
    reasons,
    verdict,
    input,
    runId,
    decider,
    decidedAt,
    comment,
    outcome,
    comparison,
    approvers = [],
  } = approval;
  const pending = status === 'pending';
  const members = useMembers().data ?? [];
  const nameOf = (signInName: string): string => members.find(({ name }) => name === signInName)?.title ?? signInName;
  return (
    <section className={entries.section}>
      <div className={entries.title}>
        <h1>{subjectOf(approval)}</h1>
        <p className={entries.facts}>
          <ApprovalState status={status} />
          <span>{say.by(requester.name, moment(createdAt))}</span>
          {pending && <span>{say.until(moment(expiresAt))}</span>}
          {runId !== undefined && <Link href={`/runs/${encodeURIComponent(runId)}`}>{say.openRun}</Link>}
        </p>
        {pending && (
          <p className={entries.lead}>
            {say.effects[approval.kind]} {approvers.length > 0 && say.approvers(approvers.map(nameOf))}
          </p>
        )}
        {!pending && (
          <p role="status">
            {decider && decidedAt
              ? say.decided(say.states[status], decider.name, moment(decidedAt))
              : say.states[status]}
            {comment !== undefined && `: ${comment}`} {outcome}
          </p>
        )}
      </div>
      <div>
        <h2>{say.reasons}</h2>
        <ul className={css.reasons}>
          {reasons.map((reason) => (
            <li key={reason}>
              <TriangleAlert size={14} aria-hidden />
              <span>{reason}</span>
            </li>
          ))}
        </ul>
      </div>
      {comparison && <PackageChanges changes={comparison.packages} />}
      {verdict && <VerdictView verdict={withoutRepeats(verdict, reasons)} />}
      {approval.comparison && <Compared approval={approval} />}
      {input !== undefined && (
        <div>
          <h2>{say.input}</h2>
          <pre className={css.input} tabIndex={0} role="region" aria-label={say.input}>
            <JsonText text={stringifyJson(input, 2)} />
          </pre>
        </div>
      )}
      {approval.inputWithheld === true && <p>{say.withheld}</p>}
      <Deliveries id={approval.id} />
      {pending && <Decide approval={approval} />}
    </section>
  );
}

/** Shows the changed lines and settings. It compares the request with the version that counts as approved. */
function Compared({ approval }: { approval: ApprovalDetails }) {
  const { id, comparison } = approval;
  const found = useApprovalDiff(id, comparison !== undefined);
  const base = comparison?.with ?? '';
  return (
    <section aria-label={say.compare} className={entries.section}>
      <div>
        <h2>{say.compare}</h2>
        <p className={entries.lead}>{base === '' ? say.allNew : say.comparedWith(base)}</p>
      </div>
      {found.isPending && <Waiting shape="text" what={say.theDiff} retry />}
      <NotLoaded found={found} why={say.notCompared} />
      {/* The packages stand above. */}
      {found.data && <Changes diff={{ ...found.data, packages: [] }} linesOnly />}
    </section>
  );
}

/** Lists the webhooks about a request. If the server has no webhooks, it shows nothing. */
function Deliveries({ id }: { id: string }) {
  const { data = [] } = useDeliveries(id);
  if (data.length === 0) return null;
  return (
    <section aria-label={say.webhooks}>
      <h2>{say.webhooks}</h2>
      <ul>
        {data.map((one) => (
          <li key={one.id}>
            {deliveryText(one)}
            {one.lastError !== undefined && <small className={css.failure}>{one.lastError}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function deliveryText({ event, state, attempts, deliveredAt, createdAt }: Delivery): string {
  const about = say.events[event];
  if (state === 'delivered') return say.delivered(about, moment(deliveredAt ?? createdAt));
  return state === 'failed' ? say.undelivered(about, attempts) : say.sending(about, attempts);
}

type Reach = NonNullable<ApprovalDecision['scope']>;
const reaches: { scope: Reach; label: string }[] = [
  { scope: 'once', label: say.once },
  { scope: 'version', label: say.version },
  { scope: 'caller', label: say.caller },
];

function Decide({ approval }: { approval: Approval }) {
  const { id, kind, agentId } = approval;
  const { may, why } = useRights();
  const [comment, setComment] = useState('');
  const [scope, setScope] = useState<Reach>('once');
  const [busy, setBusy] = useState(false);
  const answer = async (decision: ApprovalDecision['decision']): Promise<void> => {
    setBusy(true);
    try {
      await decideApproval(id, { decision, comment: comment.trim(), ...(decision === 'approve' && { scope }) });
      notify('done', decision === 'approve' ? say.approved : say.denied);
    } catch (error) {
      notify('failed', explain(error));
    }
    setBusy(false);
    await Promise.all([refreshApprovals(), refreshAgents()]);
  };
  const allowed = may('approve');
  return (
    <div className={css.decide} data-bar="decide">
      <TextField label={say.comment} hint={say.commentHint} value={comment} onChange={setComment} />
      {kind === 'run' && agentId !== undefined && (
        <Field label={say.reach}>
          {(control) => (
            <select
              {...control}
              value={scope}
              onChange={(e) => setScope(reaches.find((one) => one.scope === e.target.value)?.scope ?? 'once')}
            >
              {reaches.map((one) => (
                <option key={one.scope} value={one.scope}>
                  {one.label}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <div className={classes(entries.acts, bar.bar)}>
        <Button
          look="danger"
          disabled={busy || !allowed}
          title={allowed ? undefined : why('approve')}
          onClick={() => void answer('deny')}
        >
          {say.deny}
        </Button>
        <Button
          look="primary"
          disabled={busy || !allowed}
          title={allowed ? undefined : why('approve')}
          onClick={() => void answer('approve')}
        >
          {say.approve}
        </Button>
      </div>
    </div>
  );
}
