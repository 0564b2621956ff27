import { common } from '../texts/common';
import { Button } from './Button';
import { Dialog } from './Dialog';

interface Props {
  title: string;
  about: string;
  verb: string;
  onClose: () => void;
  onConfirm: () => void;
}

/** Asks for confirmation before a destructive action. */
export function ConfirmDialog({ title, about, verb, onClose, onConfirm }: Props) {
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
          <Button look="danger" onClick={confirm}>
            {verb}
          </Button>
        </>
      }
    >
      {null}
    </Dialog>
  );
}
