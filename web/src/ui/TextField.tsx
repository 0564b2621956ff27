import type { ReactNode } from 'react';
import { Field } from './Field';

interface Props {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  /** Whether the text is a name or code. Then the font is monospace and the spelling is not checked. */
  mono?: boolean;
  type?: 'text' | 'password';
  /** The autocomplete attribute; off by default. */
  autoComplete?: string;
  autoFocus?: boolean;
  maxLength?: number;
  value: string;
  onChange: (value: string) => void;
}

/** A text field with a label and one line. */
export function TextField(props: Props) {
  const { label, hint, error, mono = false, type = 'text', autoComplete = 'off', autoFocus, maxLength, value } = props;
  return (
    <Field label={label} hint={hint} error={error} mono={mono}>
      {(control) => (
        <input
          {...control}
          type={type}
          autoFocus={autoFocus}
          autoComplete={autoComplete}
          spellCheck={mono ? false : undefined}
          maxLength={maxLength}
          value={value}
          onChange={(e) => props.onChange(e.target.value)}
        />
      )}
    </Field>
  );
}
