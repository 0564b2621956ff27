import { closeDialog } from '../../state/dialogs';
import { common } from '../../texts/common';
import { editorSettings as say } from '../../texts/files';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { EditorForm } from '../../editor/EditorForm';

/** Shows the editor settings in a dialog over the editor, so that the user sees the effect of a change. */
export function EditorSettings() {
  return (
    <Dialog
      title={say.editorSettings}
      about={say.about}
      onClose={closeDialog}
      foot={
        <Button look="primary" onClick={closeDialog}>
          {common.done}
        </Button>
      }
    >
      <EditorForm />
    </Dialog>
  );
}
