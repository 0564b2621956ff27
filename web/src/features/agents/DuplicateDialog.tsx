import { useLocation } from 'wouter';
import { refreshAgents } from '../../api/queries';
import { copyAgent } from '../../api/verbs';
import { agentUrl } from '../../app/urlState';
import { settleDraft } from './settle';
import { NameDialog } from './NameDialog';

/** Makes a new agent of an agent's draft. */
export function DuplicateDialog({ id, name }: { id: string; name: string }) {
  const [, navigate] = useLocation();
  return (
    <NameDialog
      title={`Copy ${name}`}
      about="You get a new agent with this draft, its description and its tags. It has no versions, and nobody refers to it."
      label="Name of the copy"
      verb="Copy"
      name={`${name}-copy`}
      onName={async (wanted) => {
        await settleDraft(id);
        const agent = await copyAgent(id, wanted);
        void refreshAgents();
        navigate(agentUrl(agent.name));
      }}
    />
  );
}
