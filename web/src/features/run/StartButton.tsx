import { useRights } from '../../api/rights';
import { useKeys } from '../../app/bindings';
import { isMac, runCommand } from '../../app/commands';
import { showKeys } from '../../app/hotkeys';
import { startButton as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { useCutOff } from '../agents/useCutOff';

/** Starts the program, or says why that cannot be done now. */
export function StartButton({ wording = say.run }: { wording?: string }) {
  const { may, why } = useRights();
  const cutOff = useCutOff();
  const keys = useKeys('run.start');
  return (
    <Button
      disabled={!may('run') || cutOff !== undefined}
      title={may('run') ? cutOff : why('run')}
      onClick={() => runCommand('run.start')}
    >
      {wording} <kbd aria-hidden>{showKeys(keys, isMac)}</kbd>
    </Button>
  );
}
