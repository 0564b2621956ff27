import { Link } from 'wouter';
import { useQuotas } from '../../api/queries';
import { useRights } from '../../api/rights';
import { quotaList as say } from '../../texts/secrets';
import { classes } from '../../ui/classes';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import css from './UsagePage.module.css';
import { quotaRows } from '../../api/quotas';
import type { QuotaRow } from '../../api/quotas';

/** Shows the quotas of the workspace and their usage. */
export function QuotaList() {
  const found = useQuotas();
  const { runsServer } = useRights();
  return (
    <section className={entries.section} aria-labelledby="quotas">
      <div>
        <h2 id="quotas">{say.quotas}</h2>
        <p className={entries.lead}>
          {runsServer ? say.changeItUnder(<Link href="/workspaces">{say.workspaces}</Link>) : say.changedByTheServer}{' '}
          {say.counts}
        </p>
      </div>
      {found.isPending && <Waiting shape="text" what={say.theQuotas} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.data && (
        <>
          <ul className={css.quotas} aria-label={say.quotas}>
            {quotaRows(found.data).map((row) => (
              <Bar key={row.name} row={row} />
            ))}
          </ul>
          <p className={css.quiet}>{say.resets(found.data.until)}</p>
        </>
      )}
    </section>
  );
}

const nearly = 0.8;

function Bar({ row: { name, used, limit, amount, summary } }: { row: QuotaRow }) {
  const share = limit > 0 ? Math.min(1, used / limit) : 0;
  return (
    <li className={css.quota}>
      <span className={css.quiet}>{name}</span>
      <strong>{limit > 0 ? summary : amount}</strong>
      {limit === 0 && <span className={css.quiet}>{say.unlimited}</span>}
      {limit > 0 && (
        <div
          className={classes(css.bar, share >= 1 && css.full, share >= nearly && share < 1 && css.nearly)}
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={Math.min(used, limit)}
          aria-valuetext={summary}
        >
          <div style={{ width: `${String(share * 100)}%` }} />
        </div>
      )}
    </li>
  );
}
