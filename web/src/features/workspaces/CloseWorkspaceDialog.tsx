import { useState, type SyntheticEvent } from 'react';
import { refreshWorkspaces } from '../../api/queries';
import type { Workspace } from '../../api/types';
import { closeWorkspace } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { common } from '../../texts/common';
import { closeWorkspaceDialog as say } from '../../texts/workspaces';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import css from './WorkspacesPage.module.css';

/** Keeps everybody out of a workspace, after its name was typed. */
export function CloseWorkspaceDialog({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const { id, name, title } = workspace;
  const [typed, setTyped] = useState('');
  const task = useTask();
  const sure = typed.trim() === name;
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    if (!sure) return;
    task.run(async () => {
      await closeWorkspace(id);
      await refreshWorkspaces();
      notify('done', say.done(title));
      onClose();
    });
  };
  return (
    <Dialog
      medium
      title={say.title(title)}
      about={say.about}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button look="danger" type="submit" form="close-workspace" disabled={!sure || task.busy}>
            {say.close}
          </Button>
        </>
      }
    >
      <form id="close-workspace" className={css.form} onSubmit={submit}>
        <Field label={say.typeTheName(name)} mono>
          {(control) => (
            <input
              {...control}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={(e) => setTyped(e.target.value)}
            />
          )}
        </Field>
        <Fault message={task.fault} />
      </form>
    </Dialog>
  );
}
