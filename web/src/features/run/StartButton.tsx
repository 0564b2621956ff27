import type { ReactNode } from 'react';
import { useRights } from '../../api/rights';
import { runCommand } from '../../app/commands';
import { Button } from '../../ui/Button';

/** Starts the program, or says why this person cannot. */
export function StartButton({ children }: { children: ReactNode }) {
  const { may, why } = useRights();
  return (
    <Button disabled={!may('run')} title={may('run') ? undefined : why('run')} onClick={() => runCommand('run.start')}>
      {children}
    </Button>
  );
}
