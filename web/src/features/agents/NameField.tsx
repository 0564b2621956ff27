import type { ReactNode } from 'react';
import { Field } from '../../ui/Field';

interface Props {
  label: string;
  hint?: ReactNode;
  error: string | undefined;
  name: string;
  onName: (name: string) => void;
}

/** Where the name of an agent is typed, which is no word of any dictionary. */
export function NameField({ label, hint, error, name, onName }: Props) {
  return (
    <Field label={label} hint={hint} error={error} mono>
      {(control) => (
        <input
          {...control}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={(e) => onName(e.target.value)}
        />
      )}
    </Field>
  );
}
