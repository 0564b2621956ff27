import type { ReactNode } from 'react';
import { Field } from './Field';

interface Props {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  /** Of names and code, which are no words of a dictionary. */
  mono?: boolean;
  type?: 'text' | 'password';
  /** What a browser may fill in: nothing, where it is not told. */
  autoComplete?: string;
  autoFocus?: boolean;
  maxLength?: number;
  value: string;
  onChange: (value: string) => void;
}

/** One line of text with its label. */
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
