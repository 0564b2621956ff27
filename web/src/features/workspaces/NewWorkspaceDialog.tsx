import { useState, type SyntheticEvent } from 'react';
import { ApiError } from '../../api/http';
import { refreshWorkspaces } from '../../api/queries';
import { createWorkspace } from '../../api/verbs';
import { useEnterWorkspace } from '../../app/enterWorkspace';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import { byField, type Complaints } from './complaints';
import css from './WorkspacesPage.module.css';

/** Makes a tenant, whose administrator is whoever asks. */
export function NewWorkspaceDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const [wrong, setWrong] = useState<Complaints>({});
  const enter = useEnterWorkspace();
  const task = useTask();
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    setWrong({});
    if (name.trim() === '') return setWrong({ name: 'A name is needed.' });
    task.run(async () => {
      try {
        const made = await createWorkspace(name.trim(), title.trim());
        await refreshWorkspaces();
        notify('done', `Made ${made.title}`, { label: 'Go there', run: () => enter(made.name) });
        onClose();
      } catch (error) {
        if (error instanceof ApiError && error.code === 'name_taken') return setWrong({ name: error.message });
        const complaints = byField(error, ['name', 'title']);
        if (complaints === undefined) throw error;
        setWrong(complaints);
      }
    });
  };
  return (
    <Dialog
      medium
      title="New workspace"
      about="You become its administrator. Go there to invite its people, or make a token there for a program that does."
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="new-workspace" disabled={task.busy}>
            Make it
          </Button>
        </>
      }
    >
      <form id="new-workspace" className={css.form} onSubmit={submit}>
        <Field
          label="Name"
          hint="What programs say in X-Workspace, such as acme. It stays, and nobody else ever gets it."
          error={wrong['name']}
          mono
        >
          {(control) => (
            <input
              {...control}
              value={name}
              maxLength={63}
              autoComplete="off"
              spellCheck={false}
              onChange={(e) => setName(e.target.value)}
            />
          )}
        </Field>
        <Field label="Title" hint="What people see; the name without it." error={wrong['title']}>
          {(control) => (
            <input
              {...control}
              value={title}
              maxLength={100}
              autoComplete="off"
              onChange={(e) => setTitle(e.target.value)}
            />
          )}
        </Field>
        <Fault message={task.fault} />
      </form>
    </Dialog>
  );
}
