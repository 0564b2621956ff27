import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useUsage } from '../../api/queries';
import type { Usage } from '../../api/types';
import { usageTableUrl } from '../../api/verbs';
import { Column, Page } from '../../frame/Page';
import { measured } from '../../texts/format';
import { meterName, usagePage as say } from '../../texts/usage';
import entries from '../../ui/Entries.module.css';
import { Field } from '../../ui/Field';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { BudgetList } from './BudgetList';
import { MeterChart } from './MeterChart';
import { ModelSwitch } from './ModelSwitch';
import { QuotaList } from './QuotaList';
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
        <div className={css.title}>
          <h1>{say.title}</h1>
          <p className={entries.lead}>{say.lead}</p>
        </div>
        {usage && <BudgetList currency={usage.currency} />}
        <section className={entries.section} aria-labelledby="meters">
          <div className={css.tools}>
            <h2 id="meters">{say.meters}</h2>
            <div className={css.month}>
              <Field label={say.month} hideLabel>
                {(control) => (
                  <input
                    {...control}
                    type="month"
                    value={month}
                    max={now}
                    required
                    onChange={(e) => {
                      if (/^\d{4}-\d\d$/.test(e.target.value)) setMonth(e.target.value);
                    }}
                  />
                )}
              </Field>
            </div>
            {usage && usage.cost > 0 && (
              <strong>{say.total(say.cost(measured(usage.cost, 2), usage.currency), usage.month)}</strong>
            )}
            <a className={css.csv} href={usageTableUrl(month)} download>
              <Download size={14} aria-hidden />
              {say.csv}
            </a>
          </div>
          {found.isPending && <Waiting shape="table" what={say.theUsage} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {usage && <Meters usage={usage} />}
        </section>
        <QuotaList />
        <ModelSwitch />
      </Column>
    </Page>
  );
}

/** Shows a chart for each meter that was used in the last twelve months, and the names of the other meters. */
function Meters({ usage: { meters, currency } }: { usage: Usage }) {
  const used = meters.filter(({ history }) => history.some(({ amount }) => amount > 0));
  const idle = meters.filter((reading) => !used.includes(reading));
  return (
    <>
      {meters.every(({ amount }) => amount === 0) && <p className={entries.lead}>{say.nothing}</p>}
      {used.length > 0 && (
        <ul className={css.meters} aria-label={say.meters}>
          {used.map((reading) => (
            <MeterChart key={reading.meter} reading={reading} currency={currency} />
          ))}
        </ul>
      )}
      {used.length > 0 && idle.length > 0 && (
        <p className={css.quiet}>{say.idle(idle.map(({ meter }) => meterName(meter)).join(', '))}</p>
      )}
    </>
  );
}
