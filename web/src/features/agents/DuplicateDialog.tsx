import { useLocation } from 'wouter';
import { refreshAgents } from '../../api/queries';
import { copyAgent } from '../../api/verbs';
import { agentUrl } from '../../state/urlState';
import { duplicateDialog as say } from '../../texts/agents';
import { saveOpenDraft } from '../../draft/openSession';
import { useFreeName } from '../../agent/freeName';
import { NameDialog } from '../../agent/NameDialog';

/** Creates an agent from the draft of another agent. */
export function DuplicateDialog({ id, name }: { id: string; name: string }) {
  const [, navigate] = useLocation();
  const free = useFreeName(`${name}-copy`);
  if (free === undefined) return null;
  return (
    <NameDialog
      title={say.copy(name)}
      about={say.copyAbout}
      label={say.nameOfTheCopy}
      verb={say.verb}
      name={free}
      onName={async (wanted) => {
        await saveOpenDraft(id);
        const agent = await copyAgent(id, wanted);
        void refreshAgents();
        return () => navigate(agentUrl(agent.name));
      }}
    />
  );
}
