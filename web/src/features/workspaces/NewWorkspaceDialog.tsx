import { useState } from 'react';
import { ApiError } from '../../api/http';
import { refreshWorkspaces } from '../../api/queries';
import { createWorkspace } from '../../api/verbs';
import { useEnterWorkspace } from '../../state/enterWorkspace';
import { notify } from '../../state/notices';
import { newWorkspaceDialog as say } from '../../texts/workspaces';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { byField, type Complaints } from '../../api/fieldFaults';

/** Creates a workspace. The person who creates it becomes its administrator. */
export function NewWorkspaceDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const [wrong, setWrong] = useState<Complaints>({});
  const enter = useEnterWorkspace();
  const task = useTask();
  const submit = (): void => {
    setWrong({});
    if (name.trim() === '') return setWrong({ name: say.aNameIsNeeded });
    task.run(async () => {
      try {
        const made = await createWorkspace(name.trim(), title.trim());
        await refreshWorkspaces();
        notify('done', say.done(made.title), { label: say.goThere, run: () => enter(made.name) });
        task.leadOn(onClose);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'name_taken') return setWrong({ name: error.message });
        const complaints = byField(error, ['name', 'title']);
        if (complaints === undefined) throw error;
        setWrong(complaints);
      }
    });
  };
  return (
    <FormDialog
      title={say.newWorkspace}
      about={say.about}
      verb={say.makeIt}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={say.name}
        hint={say.nameHint}
        error={wrong['name']}
        mono
        maxLength={63}
        value={name}
        onChange={setName}
      />
      <TextField
        label={say.title}
        hint={say.titleHint}
        error={wrong['title']}
        maxLength={100}
        value={title}
        onChange={setTitle}
      />
    </FormDialog>
  );
}
