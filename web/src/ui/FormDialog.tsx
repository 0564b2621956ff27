import { useId, type ReactNode } from 'react';
import { common } from '../texts/common';
import { Button } from './Button';
import { Dialog } from './Dialog';
import css from './Entries.module.css';
import { Fault } from './Fault';

interface Props {
  title: string;
  about?: ReactNode;
  medium?: boolean;
  /** The label of the submit button. */
  verb: string;
  danger?: boolean;
  /** If false, the form cannot be submitted. */
  ready?: boolean;
  busy: boolean;
  /** An error that does not belong to a field. */
  fault?: string | undefined;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog with one form. An error that does not belong to a field is shown below the fields. */
export function FormDialog(props: Props) {
  const { title, about, medium = true, verb, danger = false, ready = true, busy, fault, onSubmit, onClose } = props;
  const form = useId();
  return (
    <Dialog
      title={title}
      about={about}
      medium={medium}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button look={danger ? 'danger' : 'primary'} type="submit" form={form} disabled={busy || !ready}>
            {verb}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className={css.form}
        onSubmit={(e) => {
          e.preventDefault();
          onSubmit();
        }}
      >
        {props.children}
        <Fault message={fault} />
      </form>
    </Dialog>
  );
}
