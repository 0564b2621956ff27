import { useState, type SyntheticEvent } from 'react';
import { refreshWorkspaces } from '../../api/queries';
import type { Session } from '../../api/types';
import { renameWorkspace } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { common } from '../../texts/common';
import { renameWorkspaceDialog as say } from '../../texts/workspaces';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import { byField } from './complaints';
import css from './WorkspacesPage.module.css';

interface Props {
  workspace: Session['workspace'];
  onClose: () => void;
}

/** Gives the workspace that one is in another title. */
export function RenameWorkspaceDialog({ workspace: { id, name, title }, onClose }: Props) {
  const [typed, setTyped] = useState(title);
  const [wrong, setWrong] = useState<string>();
  const task = useTask();
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    setWrong(undefined);
    task.run(async () => {
      try {
        const renamed = await renameWorkspace(id, typed.trim());
        await refreshWorkspaces();
        notify('done', say.done(renamed.title));
        onClose();
      } catch (error) {
        const complaint = byField(error, ['title'])?.['title'];
        if (complaint === undefined) throw error;
        setWrong(complaint);
      }
    });
  };
  return (
    <Dialog
      medium
      title={say.renameTheWorkspace}
      about={say.about(name)}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button look="primary" type="submit" form="rename-workspace" disabled={task.busy}>
            {say.rename}
          </Button>
        </>
      }
    >
      <form id="rename-workspace" className={css.form} onSubmit={submit}>
        <Field label={say.title} error={wrong}>
          {(control) => (
            <input
              {...control}
              value={typed}
              maxLength={100}
              autoComplete="off"
              onChange={(e) => setTyped(e.target.value)}
            />
          )}
        </Field>
        <Fault message={task.fault} />
      </form>
    </Dialog>
  );
}
