import { proposeFix } from '../../api/assist';
import { fixDialog as say } from '../../texts/assist';
import { ProposalDialog } from './ProposalDialog';

/** Shows a language model's fix for a failed run, and applies it if the person wants it. */
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
