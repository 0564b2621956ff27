import { useState } from 'react';
import { useLocation } from 'wouter';
import { refreshAgents, usePins } from '../../api/queries';
import { deleteAgent } from '../../api/verbs';
import { closeDialog, useCloseOwn } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { readRef } from '../../state/urlState';
import { common } from '../../texts/common';
import { deleteAgentDialog as said } from '../../texts/agents';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { Waiting } from '../../ui/Waiting';
import { restore } from '../../agent/restore';
import { PinTable } from '../../agent/PinTable';

/** Deletes an agent. If others reference the agent, the dialog lists them and requires a comment. */
export function DeleteAgentDialog({ id, name }: { id: string; name: string }) {
  const [path, navigate] = useLocation();
  const pins = usePins(name);
  const held = (pins.data ?? []).length > 0;
  const [comment, setComment] = useState('');
  const task = useTask();
  const closeOwn = useCloseOwn();

  const confirm = (): void =>
    task.run(async () => {
      await deleteAgent(id, held ? comment.trim() : '');
      await refreshAgents(); // the row disappears together with the dialog, which then moves the focus
      const stayed = closeOwn();
      notify('done', said.deleted(name), { label: said.undo, run: () => void restore(id) });
      if (stayed && readRef(path.split('/')[2] ?? '').name === name) navigate('/');
    });

  return (
    <Dialog
      medium
      title={said.delete(name)}
      about={said.deleteAbout}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button
            look="danger"
            disabled={task.busy || pins.isPending || (held && comment.trim() === '')}
            onClick={confirm}
          >
            {held ? said.deleteAllTheSame : said.verb}
          </Button>
        </>
      }
    >
      {pins.isPending && <Waiting shape="line" what={said.references} retry />}
      <NotLoaded found={pins} why={said.notRead} />
      {pins.data && !held && <p>{said.nobodyIsRegisteredAsUsing}</p>}
      {held && (
        <>
          <p>{said.others}</p>
          <PinTable pins={pins.data ?? []} />
          <TextField
            label={said.whyItIsDeleted}
            hint={said.whyItIsDeletedHint}
            maxLength={1000}
            value={comment}
            onChange={setComment}
          />
        </>
      )}
      <Fault message={task.fault} />
    </Dialog>
  );
}
