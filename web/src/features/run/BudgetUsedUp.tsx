import { useLocation } from 'wouter';
import { useRights } from '../../api/rights';
import { day } from '../../texts/format';
import { budgetUsedUp as say } from '../../texts/run';
import { amountOf } from '../../texts/usage';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import type { UsedBudget } from './controller';
import { StartButton } from './StartButton';

/**
 * Explains that the run was refused because a budget is used up, and links to the page where the budget can be raised.
 */
export function BudgetUsedUp({ budget: { name, meter, amount, used, unit, until } }: { budget: UsedBudget }) {
  const { mayAnywhere } = useRights();
  const [, navigate] = useLocation();
  return (
    <Empty
      actions={
        <>
          {mayAnywhere('read') && (
            <Button look="primary" onClick={() => navigate('/usage')}>
              {say.open}
            </Button>
          )}
          <StartButton />
        </>
      }
    >
      {say.about(name, amountOf(meter, used, unit), amountOf(meter, amount, unit), day(until))}{' '}
      {mayAnywhere('admin') ? say.raise : say.askToRaise}
    </Empty>
  );
}
