import { useState } from 'react';
import { useLocation } from 'wouter';
import { keys, queryClient, refreshAgents, usePins } from '../../api/queries';
import type { Agent } from '../../api/types';
import { deleteAgent, restoreAgent } from '../../api/verbs';
import { closeDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { readRef } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import { PinTable } from '../versions/PinTable';

/** Deletes an agent. While others reference it, it says who, and wants to know why it is to go all the same. */
export function DeleteAgentDialog({ id, name }: { id: string; name: string }) {
  const [path, navigate] = useLocation();
  const pins = usePins(name);
  const held = (pins.data ?? []).length > 0;
  const [comment, setComment] = useState('');
  const task = useTask();

  const confirm = (): void =>
    task.run(async () => {
      await deleteAgent(id, held ? comment.trim() : '');
      void refreshAgents();
      closeDialog();
      notify('done', `Deleted ${name}`, { label: 'Undo', run: () => void undelete(id) });
      if (readRef(path.split('/')[2] ?? '').name === name) navigate('/');
    });

  return (
    <Dialog
      medium
      title={`Delete ${name}?`}
      about="The draft and its versions go, and references to them stop working. Nothing else ever gets their name, and the deletion can be taken back."
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button
            look="danger"
            disabled={task.busy || pins.isPending || (held && comment.trim() === '')}
            onClick={confirm}
          >
            {held ? 'Delete all the same' : 'Delete'}
          </Button>
        </>
      }
    >
      {pins.isPending && <p>Looking who references it…</p>}
      <Fault message={pins.isError ? `Who references it could not be read. ${pins.error.message}` : undefined} />
      {held && (
        <>
          <p>Others reference it, and would fail. Let them move first, or say why it must go.</p>
          <PinTable pins={pins.data ?? []} />
          <Field label="Why it is deleted all the same" hint="Kept with the deletion, for whoever looks for it.">
            {(control) => (
              <input
                {...control}
                value={comment}
                maxLength={1000}
                autoComplete="off"
                onChange={(e) => setComment(e.target.value)}
              />
            )}
          </Field>
        </>
      )}
      <Fault message={task.fault} />
    </Dialog>
  );
}

/** Takes a deletion back and says so. */
export async function undelete(id: string): Promise<Agent | undefined> {
  try {
    const agent = await restoreAgent(id);
    void refreshAgents();
    void queryClient.invalidateQueries({ queryKey: keys.agent(agent.name) });
    notify('done', `${agent.name} is back`);
    return agent;
  } catch (error) {
    notify('failed', `It could not be brought back. ${error instanceof Error ? error.message : ''}`);
    return undefined;
  }
}
