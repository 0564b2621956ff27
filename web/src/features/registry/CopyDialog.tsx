import { useLocation } from 'wouter';
import { refreshAgents } from '../../api/queries';
import { copyFromRegistry } from '../../api/verbs';
import { agentUrl } from '../../state/urlState';
import { copyDialog as say } from '../../texts/registry';
import { useFreeName } from '../../agent/freeName';
import { NameDialog } from '../../agent/NameDialog';

/** Copies a listed agent to the workspace under a free name. */
export function CopyDialog({ id, name, version }: { id: string; name: string; version: string }) {
  const [, navigate] = useLocation();
  const free = useFreeName(name);
  if (free === undefined) return null;
  return (
    <NameDialog
      title={say.copy(name, version)}
      about={say.copyAbout}
      label={say.nameOfTheCopy}
      verb={say.verb}
      name={free}
      onName={async (wanted) => {
        const agent = await copyFromRegistry(id, wanted, version);
        void refreshAgents();
        return () => navigate(agentUrl(agent.name));
      }}
    />
  );
}
