import { useDiff } from '../../api/queries';
import { closeDialog } from '../../app/dialogs';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { useOpenAgent } from '../agents/openAgent';
import { Changes } from './Changes';

/** Two versions side by side, or a version and the saved draft. */
export function CompareDialog({ from, to }: { from: string; to: string }) {
  const { name } = useOpenAgent();
  const found = useDiff(name, from, to);
  return (
    <Dialog
      wide
      title={`${from} and ${to === 'draft' ? 'the draft' : to}`}
      about={found.data && advice(found.data.advice)}
      onClose={closeDialog}
      foot={<Button onClick={closeDialog}>Done</Button>}
    >
      {found.isPending && <p>Comparing…</p>}
      {found.isError && <p role="alert">They could not be compared. {found.error.message}</p>}
      {found.data && <Changes diff={found.data} />}
    </Dialog>
  );
}

function advice({ bump, version }: { bump: string; version: string }): string {
  if (bump === 'none') return 'They say and do the same.';
  return version === '' ? `A ${bump} change.` : `A ${bump} change: the next version is ${version}.`;
}
