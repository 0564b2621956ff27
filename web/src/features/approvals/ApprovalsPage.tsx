import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useApprovals } from '../../api/queries';
import type { Approval } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { approvalsPage as say } from '../../texts/approvals';
import { moment } from '../../texts/format';
import { Field } from '../../ui/Field';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { GateNav } from '../../verdict/GateNav';
import { subjectOf } from './subject';

/** What waits for a person, and what was decided. */
export function ApprovalsPage() {
  const [all, setAll] = useState(false);
  const found = useApprovals(all ? undefined : 'pending');
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const items = found.data?.items ?? [];
  return (
    <Page>
      <Column>
        <GateNav />
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.approvals}</h1>
              <p className={entries.lead}>{say.lead}</p>
            </div>
            <Field label={say.show}>
              {(control) => (
                <select {...control} value={all ? 'all' : 'waiting'} onChange={(e) => setAll(e.target.value === 'all')}>
                  <option value="waiting">{say.waiting}</option>
                  <option value="all">{say.all}</option>
                </select>
              )}
            </Field>
          </div>
          {found.isPending && <Waiting shape="rows" what={say.theApprovals} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {found.isSuccess && items.length === 0 && <p className={entries.lead}>{say.nothingWaits}</p>}
          <ul className={entries.list} aria-label={say.approvals}>
            {items.map((one) => (
              <Row key={one.id} approval={one} />
            ))}
          </ul>
        </section>
      </Column>
    </Page>
  );
}

function Row({ approval }: { approval: Approval }) {
  const { id, requester, createdAt, reasons, status } = approval;
  return (
    <li className={entries.row}>
      <div className={entries.about}>
        <strong>
          <Link href={`/approvals/${encodeURIComponent(id)}`}>{subjectOf(approval)}</Link>
        </strong>
        <small>{say.by(requester.name, moment(createdAt))}</small>
        <small>{reasons[0]}</small>
      </div>
      <div className={entries.acts}>{say.states[status]}</div>
    </li>
  );
}
