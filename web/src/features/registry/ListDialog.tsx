import { useState } from 'react';
import { explain } from '../../api/http';
import { queryClient, refreshAgents } from '../../api/queries';
import { listInRegistry } from '../../api/verbs';
import { closeDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import field from '../../ui/Field.module.css';

/** Lists an agent for every workspace, or takes it out again. */
export function ListDialog({ name, listed }: { name: string; listed: boolean }) {
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);

  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await listInRegistry(name, !listed);
      void refreshAgents();
      void queryClient.invalidateQueries({ queryKey: ['registry'] });
      closeDialog();
      notify('done', listed ? `${name} is not listed any more` : `${name} is listed`);
    } catch (error) {
      setFault(explain(error));
      setBusy(false);
    }
  };

  return (
    <Dialog
      title={listed ? `Take ${name} out of the registry?` : `List ${name} in the registry?`}
      about={
        listed
          ? 'Nobody finds it there any more. Copies that were made stay as they are.'
          : 'Every workspace of this server can then read and copy its published versions, with their code and environment. Secrets are names only.'
      }
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="primary" disabled={busy} onClick={() => void confirm()}>
            {listed ? 'Take it out' : 'List it'}
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
