import { useState, type SyntheticEvent } from 'react';
import { refreshWorkspaces } from '../../api/queries';
import type { Workspace } from '../../api/types';
import { closeWorkspace } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
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
      notify('done', `Closed ${title}`);
      onClose();
    });
  };
  return (
    <Dialog
      medium
      title={`Close ${title}?`}
      about="Nobody enters it from then on, its tokens are revoked, and what it listed leaves the registry. What is in it is kept, and so is its name. This cannot be taken back."
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" type="submit" form="close-workspace" disabled={!sure || task.busy}>
            Close the workspace
          </Button>
        </>
      }
    >
      <form id="close-workspace" className={css.form} onSubmit={submit}>
        <Field label={`Type ${name} to close it`} mono>
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
