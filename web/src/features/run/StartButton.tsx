import { useRights } from '../../api/rights';
import { useKeys } from '../../state/bindings';
import { isMac, runCommand } from '../../state/commands';
import { showKeys } from '../../state/hotkeys';
import { startButton as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { useCutOff } from '../../agent/useUnreachable';

/** Starts the program, or shows why it cannot start. */
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
