import { useState } from 'react';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';

interface Props {
  say: { title: string; about: string; name: string; save: string; replace: string; isReplaced: string };
  /** The names that exist already. */
  taken: string[];
  onSave: (name: string) => void;
  onClose: () => void;
}

/** Asks for the name under which an item is saved. The new item replaces an item with the same name. */
export function NameDialog({ say, taken, onSave, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const name = typed.trim();
  const replaces = taken.includes(name);
  return (
    <FormDialog
      title={say.title}
      about={say.about}
      medium={false}
      verb={replaces ? say.replace : say.save}
      ready={name !== ''}
      busy={false}
      onSubmit={() => onSave(name)}
      onClose={onClose}
    >
      <TextField
        label={say.name}
        hint={replaces ? say.isReplaced : undefined}
        maxLength={60}
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  );
}
