import { keys, queryClient, refreshFacts } from '../../api/queries';
import { getAgent, redraft } from '../../api/verbs';
import { closeDialog, showDialog, useCloseOwn } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { agentUrl } from '../../state/urlState';
import { common } from '../../texts/common';
import { redraftDialog as say } from '../../texts/versions';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';
import { useOpenAgent } from '../../agent/openAgent';
import { saveOpenDraft } from '../../draft/openSession';
import { useLocation } from 'wouter';

/** Replaces the draft by a version. It discards the edits since the last publication. */
export function RedraftDialog({ from }: { from: string }) {
  const { id, name, latestVersion } = useOpenAgent();
  const [, navigate] = useLocation();
  const task = useTask();
  const closeOwn = useCloseOwn();
  const discard = from === latestVersion;
  const confirm = (): void =>
    task.run(async () => {
      await saveOpenDraft(id);
      const { draft } = await getAgent(id);
      const agent = await redraft(id, draft.revision, from);
      queryClient.setQueryData(keys.agent(name), agent);
      refreshFacts(name);
      const stayed = closeOwn();
      notify('done', say.done(from));
      if (stayed) navigate(agentUrl(name));
    });
  return (
    <Dialog
      title={discard ? say.discardTheDraft : say.newDraftFrom(from)}
      about={say.about(from)}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button look="danger" disabled={task.busy} onClick={confirm}>
            {discard ? say.discard : say.makeItTheDraft}
          </Button>
        </>
      }
    >
      <div>
        <Button look="link" onClick={() => showDialog({ kind: 'compare', from, to: 'draft' })}>
          {say.seeWhatWouldGo}
        </Button>
      </div>
      <Fault message={task.fault} />
    </Dialog>
  );
}
