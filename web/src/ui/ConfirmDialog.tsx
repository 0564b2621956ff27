import { common } from '../texts/common';
import { Button } from './Button';
import { Dialog } from './Dialog';

interface Props {
  title: string;
  about: string;
  verb: string;
  /** Whether the action destroys no data. */
  harmless?: boolean;
  onClose: () => void;
  onConfirm: () => void;
}

/** Asks for a confirmation before an action. The button is red unless the action destroys no data. */
export function ConfirmDialog({ title, about, verb, harmless = false, onClose, onConfirm }: Props) {
  const confirm = (): void => {
    onConfirm();
    onClose();
  };
  return (
    <Dialog
      title={title}
      about={about}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button look={harmless ? 'primary' : 'danger'} onClick={confirm}>
            {verb}
          </Button>
        </>
      }
    >
      {null}
    </Dialog>
  );
}
