import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { refreshAgents, refreshApprovals, useApproval } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Approval } from '../../api/types';
import { decideApproval, type ApprovalDecision } from '../../api/verbs';
import { Column, Page } from '../../frame/Page';
import { notify } from '../../state/notices';
import { approvalsPage as say } from '../../texts/approvals';
import { moment } from '../../texts/format';
import { Button } from '../../ui/Button';
import { JsonText } from '../../ui/JsonText';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { PackageChanges } from '../../agent/PackageChanges';
import { VerdictView } from '../../verdict/VerdictView';
import { subjectOf } from './subject';

/** One request with its reasons, findings and input, and the decision. */
export function ApprovalPage({ id }: { id: string }) {
  const found = useApproval(id);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        {found.isPending && <Waiting shape="page" what={say.theApproval} retry />}
        <NotLoaded found={found} why={say.notLoaded} />
        {found.data && <Request approval={found.data} />}
      </Column>
    </Page>
  );
}

function Request({ approval }: { approval: Approval }) {
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
  } = approval;
  const pending = status === 'pending';
  return (
    <section className={entries.section}>
      <div>
        <Link href="/approvals">{say.back}</Link>
        <h1>{subjectOf(approval)}</h1>
        <p className={entries.lead}>
          {say.by(requester.name, moment(createdAt))}
          {pending && ` · ${say.until(moment(expiresAt))}`}
        </p>
      </div>
      <div>
        <h2>{say.reasons}</h2>
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </div>
      {comparison && <PackageChanges changes={comparison.packages} />}
      {verdict && <VerdictView verdict={verdict} />}
      {input !== undefined && (
        <div>
          <h2>{say.input}</h2>
          <JsonText text={stringifyJson(input, 2)} />
        </div>
      )}
      {runId !== undefined && <Link href={`/runs/${encodeURIComponent(runId)}`}>{say.openRun}</Link>}
      {pending ? (
        <Decide approval={approval} />
      ) : (
        <p role="status">
          {decider && decidedAt ? say.decided(say.states[status], decider.name, moment(decidedAt)) : say.states[status]}
          {comment !== undefined && `: ${comment}`} {outcome}
        </p>
      )}
    </section>
  );
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
    <div className={entries.form}>
      {kind === 'run' && agentId !== undefined && (
        <fieldset>
          <legend>{say.reach}</legend>
          {reaches.map((one) => (
            <label key={one.scope}>
              <input type="radio" name="scope" checked={scope === one.scope} onChange={() => setScope(one.scope)} />{' '}
              {one.label}
            </label>
          ))}
        </fieldset>
      )}
      <TextField label={say.comment} hint={say.commentHint} value={comment} onChange={setComment} />
      <div className={entries.acts}>
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
