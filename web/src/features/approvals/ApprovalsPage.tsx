import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useApprovals } from '../../api/queries';
import type { Approval } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { approvalsPage as say } from '../../texts/approvals';
import { ago, moment } from '../../texts/format';
import { Choices } from '../../ui/Choices';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { GateNav } from '../../verdict/GateNav';
import { ApprovalState } from './ApprovalState';
import { subjectOf } from './subject';

/** Lists the requests for approval: those that wait for a decision, and those that were decided. */
export function ApprovalsPage() {
  const [all, setAll] = useState(false);
  const [now] = useState(() => Date.now());
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
          {found.isPending && <Waiting shape="rows" what={say.theApprovals} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {found.isSuccess && items.length === 0 && (
            <Steps title={all ? say.noneYet : say.nothingWaits}>
              {say.setTheGate(<Link href="/rules">{say.rules}</Link>, <code>requiresApproval</code>)}
              {say.itWaits}
              {say.decideIt}
            </Steps>
          )}
          {items.length > 0 && (
            <DataTable
              label={say.approvals}
              items={items}
              columns={columnsOf(now)}
              rowKey={({ id }) => id}
              words={(approval) => [subjectOf(approval), approval.requester.name, ...approval.reasons].join(' ')}
              faded={({ status }) => status !== 'pending'}
              top={({ status }) => status === 'pending'}
            />
          )}
        </section>
      </Column>
    </Page>
  );
}

const columnsOf = (now: number): TableColumn<Approval>[] => [
  {
    key: 'request',
    title: say.request,
    by: subjectOf,
    cell: (approval) => (
      <>
        <strong>
          <Link href={`/approvals/${encodeURIComponent(approval.id)}`}>{subjectOf(approval)}</Link>
        </strong>
        <small>{approval.reasons[0]}</small>
      </>
    ),
  },
  {
    key: 'state',
    title: say.state,
    by: ({ status }) => status,
    cell: ({ status }) => <ApprovalState status={status} />,
  },
  { key: 'by', title: say.requester, by: ({ requester }) => requester.name, cell: ({ requester }) => requester.name },
  {
    key: 'made',
    title: say.requested,
    by: ({ createdAt }) => -Date.parse(createdAt),
    cell: ({ createdAt }) => ago(createdAt, now),
  },
  {
    key: 'ends',
    title: say.ends,
    by: ({ expiresAt }) => Date.parse(expiresAt),
    cell: ({ status, expiresAt }) => (status === 'pending' ? moment(expiresAt) : ''),
  },
];
