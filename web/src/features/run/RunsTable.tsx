import { useState } from 'react';
import { Link } from 'wouter';
import { RunMark } from '../../agent/RunMark';
import { finalStatus } from '../../agent/runStatus';
import type { RunSummary } from '../../api/types';
import { agentUrl, pinnedOf, runUrl, writeUrl } from '../../state/urlState';
import { ago, milliseconds, moment } from '../../texts/format';
import { runsPage as say } from '../../texts/runs';
import { SortButton, sortOf } from '../../ui/DataTable';
import type { Order } from '../../ui/tableOrder';
import { hasEnded } from './history';
import { newestFirst, nextOrder, sortedRuns } from './runsOrder';
import css from './RunsPage.module.css';

interface Props {
  runs: RunSummary[];
  now: number;
  chosen: string[];
  onChoose: (runId: string, on: boolean) => void;
  /** Whether older runs exist that are not loaded. The table sorts only the loaded runs. */
  more: boolean;
}

/** Shows runs as rows: state and error, program, input, person, duration and time. */
export function RunsTable({ runs, now, chosen, onChoose, more }: Props) {
  const [order, setOrder] = useState<Order>(newestFirst);
  const sort = (column: string): void => setOrder((before) => nextOrder(before, column));
  const shown = sortedRuns(runs, order);
  const longest = Math.max(1, ...runs.map((run) => run.totalMs));
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={say.runs}>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">{say.toCompare}</span>
            </th>
            <Head title={say.state} column="state" order={order} onSort={sort} />
            <Head title={say.agent} column="agent" order={order} onSort={sort} />
            <th scope="col">{say.input}</th>
            <Head title={say.by} column="by" order={order} onSort={sort} />
            <Head title={say.time} column="time" order={order} onSort={sort} />
            <Head title={say.when} column="when" order={order} onSort={sort} />
            <th scope="col">
              <span className="visually-hidden">{say.open}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((run) => (
            <Row
              key={run.runId}
              run={run}
              now={now}
              longest={longest}
              chosen={chosen.includes(run.runId)}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
      {more && order.column !== newestFirst.column && <p className={css.quiet}>{say.sortsLoaded(runs.length)}</p>}
    </div>
  );
}

interface HeadProps {
  title: string;
  column: string;
  order: Order;
  onSort: (column: string) => void;
}

function Head({ title, column, order, onSort }: HeadProps) {
  return (
    <th scope="col" aria-sort={sortOf(order, column)}>
      <SortButton title={title} column={column} order={order} onSort={onSort} />
    </th>
  );
}

interface RowProps {
  run: RunSummary;
  now: number;
  longest: number;
  chosen: boolean;
  onChoose: Props['onChoose'];
}

function Row({ run, now, longest, chosen, onChoose }: RowProps) {
  const when = ago(run.createdAt, now);
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={say.compareTheRun(when, run.totalMs)}
          checked={chosen}
          onChange={(e) => onChoose(run.runId, e.target.checked)}
        />
      </td>
      <td className={css.state}>
        <RunMark run={run} />
        {run.error && <small title={run.error.message}>{run.error.message}</small>}
      </td>
      <td className={css.name}>
        <Program run={run} />
      </td>
      <td className={css.input}>
        {run.inputPreview === '' ? say.largeInput : <code title={run.inputPreview}>{run.inputPreview}</code>}
      </td>
      <td className={css.person}>
        {run.by.name}
        <small>{say.sources[run.trigger]}</small>
      </td>
      <td className={css.duration}>
        {hasEnded(run) && (
          <>
            {milliseconds(run.totalMs)}
            <span className={css.bar} aria-hidden>
              <span
                data-look={finalStatus(run).look}
                style={{ width: `${Math.max(2, (run.totalMs / longest) * 100)}%` }}
              />
            </span>
          </>
        )}
        <small className={css.when}>{when}</small>
      </td>
      <td className={css.quiet}>
        <time dateTime={run.createdAt} title={moment(run.createdAt)}>
          {when}
        </time>
      </td>
      <td>
        <Link href={runUrl(run.runId)} aria-label={say.openTheRun(when)}>
          {say.open}
        </Link>
      </td>
    </tr>
  );
}

function Program({ run }: { run: RunSummary }) {
  if (run.agent === '') return <span className={css.quiet}>{say.inline(run.language)}</span>;
  const version = pinnedOf(run.version);
  return (
    <>
      <Link href={agentUrl(run.agent, version) + writeUrl({ panel: 'result', run: run.runId })}>
        {run.agent}
        {version === undefined ? '' : `@${version}`}
      </Link>
      {version === undefined && <small>{say.draft}</small>}
    </>
  );
}
