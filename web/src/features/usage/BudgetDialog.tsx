import { useState } from 'react';
import { ApiError } from '../../api/http';
import { refreshBudgets } from '../../api/queries';
import type { Budget, BudgetBody } from '../../api/types';
import { setBudget } from '../../api/verbs';
import { notify } from '../../state/notices';
import { amountOf, budgetDialog as say, meterName, meters, unitOf } from '../../texts/usage';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { FieldFaults, useTask } from '../../ui/useTask';

interface Props {
  /** The budget to change; undefined for a new budget. */
  budget?: Budget;
  /** The names of existing budgets, which a new budget cannot have. */
  taken: string[];
  currency: string;
  onClose: () => void;
}

/** Creates a budget, or changes an existing budget. */
export function BudgetDialog({ budget, taken, currency, onClose }: Props) {
  const [name, setName] = useState(budget?.name ?? '');
  const [meter, setMeter] = useState<BudgetBody['meter']>(budget?.meter ?? 'gpuMinutes');
  const [amount, setAmount] = useState(budget === undefined ? '' : String(budget.amount));
  const [refuse, setRefuse] = useState<Budget['refuse']>(budget?.refuse ?? 'remote');
  const task = useTask();
  const wanted = Number(amount);
  const submit = (): void => {
    const wrong = new Map<string, string>();
    if (name === '') wrong.set('/name', say.nameIsNeeded);
    else if (budget === undefined && taken.includes(name)) wrong.set('/name', say.nameIsTaken);
    if (!(wanted > 0)) wrong.set('/amount', say.amountIsNeeded);
    if (wrong.size > 0) return task.failAt(wrong);
    task.run(async () => {
      await setBudget(name, { meter, amount: wanted, refuse }).catch((error: unknown) => {
        throw inWords(error);
      });
      await refreshBudgets();
      notify('done', say.done(name));
      task.leadOn(onClose);
    });
  };
  return (
    <FormDialog
      title={budget === undefined ? say.newBudget : say.change(budget.name)}
      about={say.about}
      verb={budget === undefined ? say.create : say.save}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      {budget === undefined && (
        <TextField
          label={say.name}
          hint={say.nameHint}
          error={task.at('/name')}
          mono
          autoFocus
          maxLength={63}
          value={name}
          onChange={setName}
        />
      )}
      <Field label={say.meter} hint={say.meterHints[meter]} error={task.at('/meter')}>
        {(control) => (
          <select {...control} value={meter} onChange={(e) => setMeter(e.target.value as BudgetBody['meter'])}>
            {meters.map((one) => (
              <option key={one} value={one}>
                {meterName(one)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label={say.amount(unitOf(meter, currency))}
        hint={wanted > 0 ? say.amountIs(amountOf(meter, wanted, currency)) : say.amountHint}
        error={task.at('/amount')}
      >
        {(control) => (
          <input
            {...control}
            type="number"
            inputMode="decimal"
            min={0}
            step="any"
            value={amount}
            onChange={(e) => setAmount(e.target.value)}
          />
        )}
      </Field>
      <Field label={say.refuse} hint={say.refuseHints[refuse]} error={task.at('/refuse')}>
        {(control) => (
          <select {...control} value={refuse} onChange={(e) => setRefuse(e.target.value as Budget['refuse'])}>
            {(['remote', 'all', 'none'] as const).map((one) => (
              <option key={one} value={one}>
                {say.refusals[one]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}

/** Maps the server's field errors to sentences that start with the label of the field. */
function inWords(error: unknown): unknown {
  const fields = error instanceof ApiError ? error.fields : [];
  const shown = fields.flatMap(({ pointer, message }): [string, string][] => {
    const text = say.faults[pointer]?.(message);
    return text === undefined ? [] : [[pointer, text]];
  });
  return shown.length > 0 ? new FieldFaults(new Map(shown)) : error;
}
