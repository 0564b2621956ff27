import { momentField as say } from '../../texts/form';
import { Field } from '../../ui/Field';
import { fromLocal, toLocal } from './moment';
import { fieldId, useForm, type FieldProps } from './SchemaForm';

/** A field for a date and time. The user can edit an invalid text as text. */
export function MomentField({ pointer, node, label, required, value, error }: FieldProps) {
  const { onChange } = useForm();
  const text = typeof value === 'string' ? value : '';
  const local = text === '' ? '' : toLocal(text);
  const zone = say.zone(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const hint = node.description === undefined ? zone : `${node.description} ${zone}`;
  const change = (to: string | undefined): void =>
    onChange({ do: 'set', at: pointer, to: to ?? (required ? '' : undefined) });
  return (
    <Field label={label} hint={hint} error={error} id={fieldId(pointer)}>
      {(control) =>
        local === undefined ? (
          <input {...control} value={text} onChange={(e) => change(e.target.value || undefined)} />
        ) : (
          <input
            {...control}
            type="datetime-local"
            step="any"
            value={local}
            onChange={(e) => change(fromLocal(e.target.value))}
          />
        )
      }
    </Field>
  );
}
