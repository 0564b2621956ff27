import { keys, queryClient, refreshFacts } from '../../api/queries';
import { listInRegistry } from '../../api/verbs';
import { closeDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';

/** Lists an agent for every workspace, or takes it out again. */
export function ListDialog({ name, listed }: { name: string; listed: boolean }) {
  const task = useTask();
  const confirm = (): void =>
    task.run(async () => {
      await listInRegistry(name, !listed);
      refreshFacts(name);
      void queryClient.invalidateQueries({ queryKey: keys.registry });
      closeDialog();
      notify('done', listed ? `${name} is not listed any more` : `${name} is listed`);
    });
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
          <Button look="primary" disabled={task.busy} onClick={confirm}>
            {listed ? 'Take it out' : 'List it'}
          </Button>
        </>
      }
    >
      <Fault message={task.fault} />
    </Dialog>
  );
}
