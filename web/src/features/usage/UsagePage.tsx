import { useEffect, useState } from 'react';
import { useUsage } from '../../api/queries';
import { usageTableUrl } from '../../api/verbs';
import { Column, Page } from '../../frame/Page';
import { measured } from '../../texts/format';
import { usagePage as say } from '../../texts/usage';
import entries from '../../ui/Entries.module.css';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { BudgetList } from './BudgetList';
import { MeterChart } from './MeterChart';
import { ModelSwitch } from './ModelSwitch';
import css from './UsagePage.module.css';

/** Shows the usage, the costs and the budgets of the workspace in a month. */
export function UsagePage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const [now] = useState(() => new Date().toISOString().slice(0, 7));
  const [month, setMonth] = useState(now);
  const found = useUsage(month);
  const usage = found.data;
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.title}</h1>
              <p className={entries.lead}>{say.lead}</p>
            </div>
          </div>
        </section>
        {usage && <BudgetList currency={usage.currency} />}
        <ModelSwitch />
        <section className={entries.section} aria-labelledby="meters">
          <h2 id="meters">{say.meters}</h2>
          <div className={css.tools}>
            <label className={css.month}>
              {say.month}{' '}
              <input
                type="month"
                value={month}
                max={now}
                required
                onChange={(e) => {
                  if (/^\d{4}-\d\d$/.test(e.target.value)) setMonth(e.target.value);
                }}
              />
            </label>
            {usage && usage.cost > 0 && (
              <strong>{say.total(say.cost(measured(usage.cost, 2), usage.currency), usage.month)}</strong>
            )}
            <a className={css.csv} href={usageTableUrl(month)} download>
              {say.csv}
            </a>
          </div>
          {found.isPending && <Waiting shape="table" what={say.theUsage} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {usage && (
            <>
              {usage.meters.every((reading) => reading.amount === 0) && <p className={entries.lead}>{say.nothing}</p>}
              <ul className={css.meters} aria-label={say.meters}>
                {usage.meters.map((reading) => (
                  <MeterChart key={reading.meter} reading={reading} currency={usage.currency} />
                ))}
              </ul>
            </>
          )}
        </section>
      </Column>
    </Page>
  );
}
