import { useState } from 'react';
import type { JsonSchema } from '../../api/types';
import { Field } from '../../ui/Field';
import { check } from '../validate';
import { blankValue } from './defaults';
import { fieldId, fits, NodeField, useForm, type FieldProps } from './SchemaForm';
import css from './SchemaForm.module.css';
import { readNode } from './shape';

type Props = FieldProps & { branches: { label: string; schema: JsonSchema }[] };

/** Lets the user select one of several schemas, and shows the fields of this schema. */
export function VariantsField({ pointer, node, label, value, error, branches }: Props) {
  const { root, onChange } = useForm();
  const [chosen, setChosen] = useState<number>();
  const fitting = branches.findIndex((b) => value !== undefined && check(value, within(b.schema, root)).length === 0);
  // The selection is cleared when the field gets another value, for example after the user removed a list item.
  const held = chosen !== undefined && fits(readNode(branches[chosen]?.schema ?? true, root), value);
  const now = held ? chosen : Math.max(fitting, 0);
  const branch = branches[now];
  const choose = (index: number): void => {
    setChosen(index);
    onChange({ do: 'set', at: pointer, to: blankValue(branches[index]?.schema ?? true, root) });
  };
  return (
    <fieldset className={css.items}>
      <Field label={label} hint={node.description} error={error} id={`${fieldId(pointer)}:variant`}>
        {(control) => (
          <select {...control} value={now} onChange={(e) => choose(Number(e.target.value))}>
            {branches.map((b, i) => (
              <option key={i} value={i}>
                {b.label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {branch && (
        <div className={css.group}>
          <NodeField pointer={pointer} node={readNode(branch.schema, root)} required label={branch.label} />
        </div>
      )}
    </fieldset>
  );
}

/** Returns the selected schema with the definitions to which it refers. */
function within(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean' || typeof root === 'boolean' || root['$defs'] === undefined) return schema;
  return { ...schema, $defs: root['$defs'] };
}
