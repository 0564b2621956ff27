import { useState } from 'react';
import { Field } from '../../ui/Field';
import { sameLines, toLines } from './lines';

interface Props {
  id: string;
  label: string;
  hint: string;
  placeholder: string;
  error: string | undefined;
  lines: string[];
  /** Undefined while a published version is shown. */
  onChange: ((lines: string[]) => void) | undefined;
}

/** Names of one kind, one a line. What is typed stays as it is typed while it says the same. */
export function LinesField({ id, label, hint, placeholder, error, lines, onChange }: Props) {
  const [text, setText] = useState(() => lines.join('\n'));
  // Changed from outside: another draft was taken, or a denied host allowed.
  if (!sameLines(toLines(text), lines)) setText(lines.join('\n'));
  return (
    <Field label={label} mono id={id} error={error} hint={hint}>
      {(control) => (
        <textarea
          {...control}
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          spellCheck={false}
          autoComplete="off"
          placeholder={placeholder}
          readOnly={onChange === undefined}
          value={text}
          onChange={(e) => {
            setText(e.target.value);
            onChange?.(toLines(e.target.value));
          }}
        />
      )}
    </Field>
  );
}
