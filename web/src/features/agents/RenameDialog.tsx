import { useLocation } from 'wouter';
import { agentRenamed, keys, queryClient } from '../../api/queries';
import { renameAgent } from '../../api/verbs';
import { notify } from '../../state/notices';
import { agentUrl } from '../../state/urlState';
import { renameDialog as say } from '../../texts/agents';
import { saveOpenDraft } from '../../draft/openSession';
import { NameDialog } from '../../agent/NameDialog';

/** Renames an agent. The old name of a published agent stays valid, so that callers still work. */
export function RenameDialog({ id, name, published }: { id: string; name: string; published: boolean }) {
  const [path, navigate] = useLocation();
  const rename = async (wanted: string): Promise<() => void> => {
    await saveOpenDraft(id);
    const agent = await renameAgent(id, wanted);
    agentRenamed(agent, name);
    notify('done', published ? say.isNowAndWas(name, agent.name) : say.isNow(name, agent.name));
    const [, here, rest] = /^\/a\/([^/@]+)(.*)$/.exec(path) ?? [];
    return () => {
      if (here !== name) return;
      queryClient.setQueryData(keys.agent(agent.name), agent); // the agent's page uses the new name immediately
      navigate(agentUrl(agent.name) + (rest ?? ''), { replace: true });
    };
  };
  return (
    <NameDialog
      title={say.rename(name)}
      about={published ? say.renameAbout(name) : say.unpublishedAbout}
      label={say.newName}
      verb={say.verb}
      name={name}
      onName={rename}
    />
  );
}
