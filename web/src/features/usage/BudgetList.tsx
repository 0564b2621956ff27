import { CircleX, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { explain } from '../../api/http';
import { refreshBudgets, useBudgets } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Budget } from '../../api/types';
import { removeBudget } from '../../api/verbs';
import { notify } from '../../state/notices';
import { day } from '../../texts/format';
import { amountOf, meterName, usagePage as say } from '../../texts/usage';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import entries from '../../ui/Entries.module.css';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { EmptyBox } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import { BudgetDialog } from './BudgetDialog';
import css from './UsagePage.module.css';

/**
 * Lists the budgets of the workspace with their usage, and the reasons why runs are refused. Administrators can change
 * them.
 */
export function BudgetList({ currency }: { currency: string }) {
  const found = useBudgets(true, true);
  const { mayAnywhere } = useRights();
  const [making, setMaking] = useState(false);
  const changes = mayAnywhere('admin');
  const taken = found.data?.map(({ name }) => name) ?? [];
  return (
    <section className={entries.section} aria-labelledby="budgets">
      <div className={entries.head}>
        <div>
          <h2 id="budgets">{say.budgets}</h2>
          <p className={entries.lead}>{say.aboutBudgets}</p>
        </div>
        {changes && found.isSuccess && (
          <Button look="primary" onClick={() => setMaking(true)}>
            {say.newBudget}
          </Button>
        )}
      </div>
      {found.isPending && <Waiting shape="text" what={say.theBudgets} retry />}
      <NotLoaded found={found} why={say.budgetsNotLoaded} />
      {found.data?.length === 0 && (
        <EmptyBox title={say.noBudgets}>
          <p>
            {changes
              ? say.chooseMeter(<code>atelier budget set</code>)
              : say.noBudgetsAsk(<code>atelier budget set</code>)}
          </p>
        </EmptyBox>
      )}
      {found.data && found.data.length > 0 && (
        <ul className={css.budgets} aria-label={say.budgets}>
          {found.data.map((budget) => (
            <Row key={budget.name} budget={budget} currency={currency} taken={taken} changes={changes} />
          ))}
        </ul>
      )}
      {making && <BudgetDialog taken={taken} currency={currency} onClose={() => setMaking(false)} />}
    </section>
  );
}

const nearly = 80;

interface RowProps {
  budget: Budget;
  currency: string;
  taken: string[];
  changes: boolean;
}

function Row({ budget, currency, taken, changes }: RowProps) {
  const { name, meter, amount, used, percent, refuse, exceeded, until } = budget;
  const summary = say.usedOf(amountOf(meter, used, currency), amountOf(meter, amount, currency), percent);
  return (
    <li className={css.budget}>
      <p className={css.budgetHead}>
        <strong>{name}</strong> <span>{say.perMonth(meterName(meter))}</span>
        <span className={css.amount}>
          {exceeded ? (
            <StateMark look={refuse === 'none' ? 'warn' : 'err'} icon={CircleX}>
              {summary}
            </StateMark>
          ) : percent >= nearly ? (
            <StateMark look="warn" icon={TriangleAlert}>
              {summary}
            </StateMark>
          ) : (
            summary
          )}
        </span>
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
        {[50, nearly].map((at) => (
          <i key={at} style={{ left: `${String(at)}%` }} title={say.warnsAt(at)} />
        ))}
      </div>
      <div className={css.foot}>
        {exceeded ? (
          <p className={css.usedUp}>
            {say.refusesNow[refuse](day(until))} {refuse !== 'none' && (changes ? say.raise : say.askToRaise)}
          </p>
        ) : (
          <p className={css.quiet}>{say.refuses[refuse]}</p>
        )}
        {changes && <Actions budget={budget} currency={currency} taken={taken} />}
      </div>
    </li>
  );
}

function Actions({ budget, currency, taken }: Omit<RowProps, 'changes'>) {
  const { name } = budget;
  const [asked, setAsked] = useState<'change' | 'remove'>();
  const close = (): void => setAsked(undefined);
  const remove = async (): Promise<void> => {
    try {
      await removeBudget(name);
      notify('done', say.removed(name));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshBudgets();
  };
  return (
    <div className={css.acts}>
      <Button aria-label={say.changeNamed(name)} onClick={() => setAsked('change')}>
        {say.change}
      </Button>
      <Button ref={leaveFocus} aria-label={say.removeNamed(name)} onClick={() => setAsked('remove')}>
        {say.remove}
      </Button>
      {asked === 'change' && <BudgetDialog budget={budget} taken={taken} currency={currency} onClose={close} />}
      {asked === 'remove' && (
        <ConfirmDialog
          title={say.removeTitle(name)}
          about={say.removeAbout}
          verb={say.removeVerb}
          onClose={close}
          onConfirm={() => void remove()}
        />
      )}
    </div>
  );
}
