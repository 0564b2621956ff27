import { useState } from 'react';
import { parseJson, stringifyJson } from '../../api/json';
import { jsonBranch as say } from '../../texts/form';
import { Field } from '../../ui/Field';
import { faultSentence } from '../locate';
import { fieldId, useForm, type FieldProps } from './SchemaForm';

/** Edits a part of the value as JSON. The text stays as the user typed it while it is not valid JSON. */
export function JsonBranch({ pointer, node, label, value, error, readOnly }: FieldProps & { readOnly?: boolean }) {
  const { onChange } = useForm();
  const [typed, setTyped] = useState<{ text: string; fault: string | undefined; was: string }>();
  const current = value === undefined ? '' : stringifyJson(value, 2);
  // The typed text stays until the value is changed outside of this field.
  const shown = typed && typed.was === current ? typed : undefined;
  const change = (text: string): void => {
    if (text.trim() === '') {
      setTyped({ text, fault: undefined, was: '' });
      return onChange({ do: 'set', at: pointer, to: undefined });
    }
    try {
      const parsed = parseJson(text);
      setTyped({ text, fault: undefined, was: stringifyJson(parsed, 2) });
      onChange({ do: 'set', at: pointer, to: parsed });
    } catch {
      setTyped({ text, fault: faultSentence(text), was: current });
    }
  };
  return (
    <Field
      label={pointer === '' ? say.inputAsJson : label}
      hint={node.description}
      error={shown?.fault ?? error}
      id={fieldId(pointer)}
      mono
    >
      {(control) => (
        <textarea
          {...control}
          rows={Math.min(8, Math.max(2, current.split('\n').length))}
          readOnly={readOnly ?? false}
          spellCheck={false}
          value={shown?.text ?? current}
          onChange={(e) => change(e.target.value)}
        />
      )}
    </Field>
  );
}
