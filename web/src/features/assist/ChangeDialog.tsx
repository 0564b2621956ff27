import type { ChangeTask } from '../../api/types';
import { proposeChange } from '../../api/assist';
import { useOpenAgent } from '../../agent/openAgent';
import { changeDialog as say } from '../../texts/assist';
import { ProposalDialog } from './ProposalDialog';

/**
 * Shows a change of the draft that a language model proposes: a described change, or new tests, comments or schemas.
 */
export function ChangeDialog({ task }: { task: ChangeTask }) {
  const { name } = useOpenAgent();
  return (
    <ProposalDialog
      title={say.titles[task]}
      about={say.about}
      applied={say.applied}
      {...(task === 'change' && { question: say.question })}
      ask={(description, watch, signal) =>
        proposeChange({ agent: name, task, ...(task === 'change' && { description }) }, watch, signal)
      }
    />
  );
}
