import { useState } from 'react';
import { Field } from '../../ui/Field';
import { Plain } from './Plain';
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

/** A field with one name per line. The typed text stays while it means the same list. */
export function LinesField({ id, label, hint, placeholder, error, lines, onChange }: Props) {
  const [text, setText] = useState(() => lines.join('\n'));
  // Discard the typed text if the draft was replaced or a denied host was added.
  if (!sameLines(toLines(text), lines)) setText(lines.join('\n'));
  if (!onChange) return <Plain label={label} text={lines.join('\n')} mono />;
  return (
    <Field label={label} mono id={id} error={error} hint={hint}>
      {(control) => (
        <textarea
          {...control}
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          spellCheck={false}
          autoComplete="off"
          placeholder={placeholder}
          value={text}
          onChange={(e) => {
            setText(e.target.value);
            onChange(toLines(e.target.value));
          }}
        />
      )}
    </Field>
  );
}
