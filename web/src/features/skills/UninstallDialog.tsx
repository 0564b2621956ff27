import { refreshAgents, refreshSkills, usePins } from '../../api/queries';
import { uninstallSkill } from '../../api/verbs';
import { notify } from '../../state/notices';
import { common } from '../../texts/common';
import { uninstallDialog as say } from '../../texts/skills';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { NotLoaded } from '../../ui/NotLoaded';
import { useTask } from '../../ui/useTask';
import { Waiting } from '../../ui/Waiting';
import { PinTable } from '../../agent/PinTable';

/** Uninstalls a skill. If others reference the skill, the dialog lists them and asks for a confirmation. */
export function UninstallDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const pins = usePins(name);
  const held = (pins.data ?? []).length > 0;
  const task = useTask();

  const confirm = (): void =>
    task.run(async () => {
      await uninstallSkill(name, held);
      await Promise.all([refreshSkills(), refreshAgents()]); // the row disappears together with the dialog, which then moves the focus
      notify('done', say.uninstalled(name));
      task.leadOn(onClose);
    });

  return (
    <Dialog
      medium
      title={say.uninstall(name)}
      about={say.uninstallAbout}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button look="danger" disabled={task.busy || pins.isPending} onClick={confirm}>
            {held ? say.uninstallAllTheSame : say.verb}
          </Button>
        </>
      }
    >
      {pins.isPending && <Waiting shape="line" what={say.references} retry />}
      <NotLoaded found={pins} why={say.notRead} />
      {pins.data && !held && <p>{say.nobodyIsRegisteredAsUsing}</p>}
      {held && (
        <>
          <p>{say.others}</p>
          <PinTable pins={pins.data ?? []} />
        </>
      )}
      <Fault message={task.fault} />
    </Dialog>
  );
}
