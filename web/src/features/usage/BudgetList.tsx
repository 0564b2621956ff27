import { useBudgets } from '../../api/queries';
import type { Budget } from '../../api/types';
import { day } from '../../texts/format';
import { amountOf, meterName, usagePage as say } from '../../texts/usage';
import { classes } from '../../ui/classes';
import entries from '../../ui/Entries.module.css';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import css from './UsagePage.module.css';

/** The budgets of the workspace with their use, and why runs are refused. */
export function BudgetList({ currency }: { currency: string }) {
  const found = useBudgets();
  return (
    <section className={entries.section} aria-labelledby="budgets">
      <div>
        <h2 id="budgets">{say.budgets}</h2>
        <p className={entries.lead}>{say.aboutBudgets}</p>
      </div>
      {found.isPending && <Waiting shape="text" what={say.theBudgets} retry />}
      <NotLoaded found={found} why={say.budgetsNotLoaded} />
      {found.data?.length === 0 && (
        <p className={entries.lead}>
          {say.noBudgets} <code>atelier budget set remote --meter remoteSeconds --amount 3600</code>
        </p>
      )}
      {found.data && found.data.length > 0 && (
        <ul className={css.budgets} aria-label={say.budgets}>
          {found.data.map((budget) => (
            <Row key={budget.name} budget={budget} currency={currency} />
          ))}
        </ul>
      )}
    </section>
  );
}

const nearly = 80;

function Row({ budget, currency }: { budget: Budget; currency: string }) {
  const { name, meter, amount, used, percent, refuse, exceeded, until } = budget;
  const summary = say.usedOf(amountOf(meter, used, currency), amountOf(meter, amount, currency), percent);
  return (
    <li className={css.budget}>
      <p className={css.budgetHead}>
        <strong>{name}</strong> <span>{meterName(meter)}</span>
        <span className={css.amount}>{summary}</span>
      </p>
      <div
        className={classes(css.bar, exceeded && css.full, !exceeded && percent >= nearly && css.nearly)}
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={amount}
        aria-valuenow={Math.min(used, amount)}
        aria-valuetext={summary}
      >
        <div style={{ width: `${String(Math.min(100, percent))}%` }} />
      </div>
      {exceeded ? (
        <p className={css.usedUp}>
          {say.refusesNow[refuse](day(until))} {refuse !== 'none' && <code>{say.raiseWith(name, meter, refuse)}</code>}
        </p>
      ) : (
        <p className={css.quiet}>{say.refuses[refuse]}</p>
      )}
    </li>
  );
}
