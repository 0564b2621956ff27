import { useState, type SyntheticEvent } from 'react';
import { refreshQuotas, useQuotasOf } from '../../api/queries';
import type { Quotas, Workspace } from '../../api/types';
import { setQuotas } from '../../api/verbs';
import { notify } from '../../state/notices';
import { common } from '../../texts/common';
import { quotaDialog as say } from '../../texts/workspaces';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Waiting } from '../../ui/Waiting';
import { Fault } from '../../ui/Fault';
import { NotLoaded } from '../../ui/NotLoaded';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import entries from '../../ui/Entries.module.css';
import { quotaRows } from '../../api/quotas';
import { byField, type Complaints } from '../../api/fieldFaults';
import { formOf, quotaNames, readForm } from './quotaForm';

/** Sets the quotas of a workspace. */
export function QuotaDialog({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const found = useQuotasOf(workspace.id);
  const task = useTask();
  return (
    <Dialog
      medium
      title={say.quotasOf(workspace.title)}
      about={say.about}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button look="primary" type="submit" form="quotas" disabled={task.busy || !found.isSuccess}>
            {say.save}
          </Button>
        </>
      }
    >
      {found.isPending && <Waiting shape="text" what={say.theQuotas} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && <Form workspace={workspace} quotas={found.data} task={task} onDone={onClose} />}
    </Dialog>
  );
}

interface FormProps {
  workspace: Workspace;
  quotas: Quotas;
  task: ReturnType<typeof useTask>;
  onDone: () => void;
}

function Form({ workspace: { id, title }, quotas, task, onDone }: FormProps) {
  const [form, setForm] = useState(() => formOf(quotas.own));
  const [wrong, setWrong] = useState<Complaints>({});
  const rows = quotaRows(quotas);
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    const { own, faults } = readForm(form);
    setWrong(faults);
    if (Object.keys(faults).length > 0) return;
    task.run(async () => {
      try {
        await setQuotas(id, own);
        await refreshQuotas();
        notify('done', say.done(title));
        task.leadOn(onDone);
      } catch (error) {
        const complaints = byField(error, quotaNames);
        if (complaints === undefined) throw error;
        setWrong(complaints);
      }
    });
  };
  return (
    <form id="quotas" className={entries.form} onSubmit={submit}>
      {quotaNames.map((name, i) => (
        <Field
          key={name}
          label={say.fields[name].label}
          hint={say.fields[name].hint(rows[i]?.summary ?? '')}
          error={wrong[name]}
        >
          {(control) => (
            <input
              {...control}
              inputMode={name === 'storageBytes' ? 'text' : 'numeric'}
              placeholder={say.theServersDefault}
              value={form[name]}
              autoComplete="off"
              onChange={(e) => setForm({ ...form, [name]: e.target.value })}
            />
          )}
        </Field>
      ))}
      <Fault message={task.fault} />
    </form>
  );
}
