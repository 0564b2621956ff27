import { keys, queryClient, refreshFacts } from '../../api/queries';
import { listInRegistry } from '../../api/verbs';
import { closeDialog, useCloseOwn } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { common } from '../../texts/common';
import { listDialog as say } from '../../texts/registry';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';

/** Lists an agent in the public registry, or removes it from the registry. */
export function ListDialog({ name, listed }: { name: string; listed: boolean }) {
  const task = useTask();
  const closeOwn = useCloseOwn();
  const confirm = (): void =>
    task.run(async () => {
      await listInRegistry(name, !listed);
      refreshFacts(name);
      void queryClient.invalidateQueries({ queryKey: keys.registry });
      closeOwn();
      notify('done', listed ? say.notListedNow(name) : say.isListed(name));
    });
  return (
    <Dialog
      title={listed ? say.takeOut(name) : say.list(name)}
      about={listed ? say.takeOutAbout : say.listAbout}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button look="primary" disabled={task.busy} onClick={confirm}>
            {listed ? say.takeItOut : say.listIt}
          </Button>
        </>
      }
    >
      <Fault message={task.fault} />
    </Dialog>
  );
}
