import { useState } from 'react';
import { refreshWorkspaces } from '../../api/queries';
import type { Session } from '../../api/types';
import { renameWorkspace } from '../../api/verbs';
import { notify } from '../../state/notices';
import { renameWorkspaceDialog as say } from '../../texts/workspaces';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { byField } from '../../api/fieldFaults';

interface Props {
  workspace: Session['workspace'];
  onClose: () => void;
}

/** Changes the title of the current workspace. */
export function RenameWorkspaceDialog({ workspace: { id, name, title }, onClose }: Props) {
  const [typed, setTyped] = useState(title);
  const [wrong, setWrong] = useState<string>();
  const task = useTask();
  const submit = (): void => {
    setWrong(undefined);
    task.run(async () => {
      try {
        const renamed = await renameWorkspace(id, typed.trim());
        await refreshWorkspaces();
        notify('done', say.done(renamed.title));
        task.leadOn(onClose);
      } catch (error) {
        const complaint = byField(error, ['title'])?.['title'];
        if (complaint === undefined) throw error;
        setWrong(complaint);
      }
    });
  };
  return (
    <FormDialog
      title={say.renameTheWorkspace}
      about={say.about(name)}
      verb={say.rename}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={say.title} error={wrong} maxLength={100} value={typed} onChange={setTyped} />
    </FormDialog>
  );
}
