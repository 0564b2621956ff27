import { useState } from 'react';
import { useLocation } from 'wouter';
import { explain } from '../../api/http';
import { refreshAgents } from '../../api/queries';
import { deleteAgent } from '../../api/verbs';
import { closeDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { agentUrl, readRef } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import field from '../../ui/Field.module.css';

export function DeleteAgentDialog({ id, name }: { id: string; name: string }) {
  const [path, navigate] = useLocation();
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);

  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await deleteAgent(id);
      void refreshAgents();
      closeDialog();
      notify('done', `Deleted ${name}`);
      if (readRef(path.replace(agentUrl(''), '')).name === name) navigate('/');
    } catch (error) {
      setFault(explain(error));
      setBusy(false);
    }
  };

  return (
    <Dialog
      title={`Delete ${name}?`}
      about="The draft and its versions go. References to them stop working, and no other agent’s version can take their place."
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="danger" disabled={busy} onClick={() => void confirm()}>
            Delete
          </Button>
        </>
      }
    >
      {fault !== undefined && (
        <p role="alert" className={field.error}>
          {fault}
        </p>
      )}
    </Dialog>
  );
}
