import { useState } from 'react';
import { refreshWorkspaces } from '../../api/queries';
import type { Workspace } from '../../api/types';
import { closeWorkspace } from '../../api/verbs';
import { notify } from '../../state/notices';
import { closeWorkspaceDialog as say } from '../../texts/workspaces';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';

/** Closes a workspace for all members. The user types the name of the workspace to confirm. */
export function CloseWorkspaceDialog({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const { id, name, title } = workspace;
  const [typed, setTyped] = useState('');
  const task = useTask();
  const sure = typed.trim() === name;
  const submit = (): void => {
    if (!sure) return;
    task.run(async () => {
      await closeWorkspace(id);
      await refreshWorkspaces();
      notify('done', say.done(title));
      task.leadOn(onClose);
    });
  };
  return (
    <FormDialog
      title={say.title(title)}
      about={say.about}
      verb={say.close}
      danger
      ready={sure}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={say.typeTheName(name)} mono value={typed} onChange={setTyped} />
    </FormDialog>
  );
}
