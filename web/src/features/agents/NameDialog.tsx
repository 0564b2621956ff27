import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { closeDialog } from '../../app/dialogs';
import { common } from '../../texts/common';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { useTask } from '../../ui/useTask';
import { nameFault } from './blank';
import { NameField } from './NameField';

interface Props {
  title: string;
  about: ReactNode;
  label: string;
  verb: string;
  /** What the field begins with. */
  name: string;
  onName: (name: string) => Promise<void>;
}

/** Asks for the name of an agent; it closes when the work is done. */
export function NameDialog({ title, about, label, verb, name: first, onName }: Props) {
  const [name, setName] = useState(first);
  const task = useTask();
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    const wrong = nameFault(name.trim());
    if (wrong !== undefined) return task.fail(wrong);
    task.run(async () => {
      await onName(name.trim());
      closeDialog();
    });
  };
  return (
    <Dialog
      title={title}
      about={about}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button look="primary" type="submit" form="name" disabled={task.busy}>
            {verb}
          </Button>
        </>
      }
    >
      <form id="name" onSubmit={submit}>
        <NameField label={label} error={task.fault} name={name} onName={setName} />
      </form>
    </Dialog>
  );
}
