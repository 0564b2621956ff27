import { useLocation } from 'wouter';
import { refreshAgents } from '../../api/queries';
import { copyFromRegistry } from '../../api/verbs';
import { agentUrl } from '../../app/urlState';
import { NameDialog } from '../agents/NameDialog';

/** Copies a listed agent into the workspace, under a name that is free. */
export function CopyDialog({ id, name, version }: { id: string; name: string; version: string }) {
  const [, navigate] = useLocation();
  return (
    <NameDialog
      title={`Copy ${name} ${version}`}
      about="You get an agent whose draft is this version. What its author publishes later does not change it."
      label="Name of the copy"
      verb="Copy"
      name={name}
      onName={async (wanted) => {
        const agent = await copyFromRegistry(id, wanted);
        void refreshAgents();
        navigate(agentUrl(agent.name));
      }}
    />
  );
}
