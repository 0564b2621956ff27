import { refreshAgents, refreshSkills, usePins } from '../../api/queries';
import { uninstallSkill } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';
import { PinTable } from '../versions/PinTable';

/** Uninstalls a skill. While others reference it, it says who, and does so only when told again. */
export function UninstallDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const pins = usePins(name);
  const held = (pins.data ?? []).length > 0;
  const task = useTask();

  const confirm = (): void =>
    task.run(async () => {
      await uninstallSkill(name, held);
      onClose();
      notify('done', `Uninstalled ${name}`);
      await Promise.all([refreshSkills(), refreshAgents()]);
    });

  return (
    <Dialog
      medium
      title={`Uninstall ${name}?`}
      about="Callers get an error from now on. Its versions and runs are kept, and installing it by name brings it back."
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={task.busy || pins.isPending} onClick={confirm}>
            {held ? 'Uninstall all the same' : 'Uninstall'}
          </Button>
        </>
      }
    >
      {pins.isPending && <p>Looking who references it…</p>}
      <Fault message={pins.isError ? `Who references it could not be read. ${pins.error.message}` : undefined} />
      {held && (
        <>
          <p>Others reference it, and would fail. Let them move first, or uninstall it all the same.</p>
          <PinTable pins={pins.data ?? []} />
        </>
      )}
      <Fault message={task.fault} />
    </Dialog>
  );
}
