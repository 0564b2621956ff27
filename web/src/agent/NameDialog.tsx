import { useState, type ReactNode } from 'react';
import { closeDialog, useCloseOwn } from '../state/dialogs';
import { TextField } from '../ui/TextField';
import { useTask } from '../ui/useTask';
import { FormDialog } from '../ui/FormDialog';
import { nameFault } from './starters';

interface Props {
  title: string;
  about: ReactNode;
  label: string;
  verb: string;
  /** The initial text of the name field. */
  name: string;
  /** Performs the action with the name. The dialog closes and then calls the returned function. */
  onName: (name: string) => Promise<() => void>;
}

/** Asks for an agent name, performs the action, and then closes. */
export function NameDialog({ title, about, label, verb, name: first, onName }: Props) {
  const [name, setName] = useState(first);
  const task = useTask();
  const closeOwn = useCloseOwn();
  const submit = (): void => {
    const wrong = nameFault(name.trim());
    if (wrong !== undefined) return task.fail(wrong);
    task.run(async () => {
      const leadOn = await onName(name.trim());
      if (closeOwn()) leadOn();
    });
  };
  return (
    <FormDialog
      title={title}
      about={about}
      medium={false}
      verb={verb}
      busy={task.busy}
      onSubmit={submit}
      onClose={closeDialog}
    >
      <TextField label={label} error={task.fault} mono autoFocus value={name} onChange={setName} />
    </FormDialog>
  );
}
