import { useLocation } from 'wouter';
import { keys, queryClient, refreshAgents } from '../../api/queries';
import { renameAgent } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { agentUrl } from '../../app/urlState';
import { settleDraft } from './settle';
import { NameDialog } from './NameDialog';

/** Gives an agent another name; with versions the former one goes on working, so that no caller breaks. */
export function RenameDialog({ id, name, published }: { id: string; name: string; published: boolean }) {
  const [path, navigate] = useLocation();
  const rename = async (wanted: string): Promise<void> => {
    await settleDraft(id);
    const agent = await renameAgent(id, wanted);
    queryClient.setQueryData(keys.agent(agent.name), agent);
    void refreshAgents();
    notify(
      'done',
      published ? `${name} is ${agent.name} now; calls of ${name} go on working` : `${name} is ${agent.name} now`,
    );
    const [, here, rest] = /^\/a\/([^/@]+)(.*)$/.exec(path) ?? [];
    if (here === name) navigate(agentUrl(agent.name) + (rest ?? ''), { replace: true });
  };
  return (
    <NameDialog
      title={`Rename ${name}`}
      about={
        published
          ? `References to ${name} go on working: whoever asks for it gets the agent under its new name. Nobody else can take the old one.`
          : 'It has no version yet, so nobody refers to it. The old name becomes free.'
      }
      label="New name"
      verb="Rename"
      name={name}
      onName={rename}
    />
  );
}
