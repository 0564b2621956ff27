import { useRights } from '../../api/rights';
import { useKeys } from '../../state/bindings';
import { isMac, runCommand } from '../../state/commands';
import { showKeys } from '../../state/hotkeys';
import { startButton as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { useUnreachable } from '../../agent/useUnreachable';

/** Shows a button that starts the program, or the reason why the program cannot start. */
export function StartButton({ wording = say.run }: { wording?: string }) {
  const { may, why } = useRights();
  const unreachable = useUnreachable();
  const keys = useKeys('run.start');
  return (
    <Button
      disabled={!may('run') || unreachable !== undefined}
      title={may('run') ? unreachable : why('run')}
      onClick={() => runCommand('run.start')}
    >
      {wording} <kbd aria-hidden>{showKeys(keys, isMac)}</kbd>
    </Button>
  );
}
