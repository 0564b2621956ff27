import { useEffect, useState } from 'react';
import { explain } from '../../api/http';
import { keys, queryClient } from '../../api/queries';
import { useOpenAgent } from '../../agent/openAgent';
import { saveOpenDraft } from '../../draft/openSession';
import { closeDialog } from '../../state/dialogs';
import { common } from '../../texts/common';
import { savedDrafts as say } from '../../texts/versions';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Waiting } from '../../ui/Waiting';
import { SaveTable } from './SavedDrafts';

/**
 * Shows the history of the draft while the draft is open. It saves the latest edits first, so that they are in the
 * list.
 */
export function DraftHistoryDialog() {
  const { id, name } = useOpenAgent();
  const [saved, setSaved] = useState(false);
  const [fault, setFault] = useState('');
  useEffect(() => {
    void saveOpenDraft(id)
      .catch((error: unknown) => setFault(explain(error)))
      .then(() => queryClient.invalidateQueries({ queryKey: keys.draftSaves(name), exact: true }))
      .finally(() => setSaved(true));
  }, [id, name]);
  return (
    <Dialog
      wide
      title={say.history}
      about={say.about}
      onClose={closeDialog}
      foot={<Button onClick={closeDialog}>{common.done}</Button>}
    >
      <Fault message={fault} />
      {saved ? <SaveTable name={name} back={{ kind: 'draftHistory' }} /> : <Waiting shape="rows" what={say.theList} />}
    </Dialog>
  );
}
