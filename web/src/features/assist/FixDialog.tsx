import { proposeFix } from '../../api/assist';
import { fixDialog as say } from '../../texts/assist';
import { ProposalDialog } from './ProposalDialog';

/** Shows a fix for a failed run that a language model proposes. The user can apply the fix. */
export function FixDialog({ runId }: { runId: string }) {
  return (
    <ProposalDialog
      title={say.title}
      about={say.about}
      applied={say.applied}
      ask={(_, watch, signal) => proposeFix(runId, watch, signal)}
    />
  );
}
