import { useId, useState } from 'react';
import { parseNumber, rawNumber, type Json } from '../../api/json';
import { scalarFields as say } from '../../texts/form';
import { Field } from '../../ui/Field';
import { fieldId, useForm, type FieldProps } from './SchemaForm';
import css from './SchemaForm.module.css';
import type { Shape } from './shape';

type TextShape = Extract<Shape, { kind: 'text' }>;

export function TextField({ pointer, node, label, required, value, error, shape }: FieldProps & { shape: TextShape }) {
  const { onChange } = useForm();
  const text = typeof value === 'string' ? value : '';
  // Once the field has several lines, it stays so. Replacing the element would lose the cursor position.
  const [tall, setTall] = useState(false);
  if (!tall && text.includes('\n')) setTall(true);
  // If the user clears an optional text, the property is removed. If the user clears a required text, it becomes an
  // empty text, which the schema may reject.
  const change = (now: string): void =>
    onChange({ do: 'set', at: pointer, to: now === '' && !required ? undefined : now });
  return (
    <Field label={label} hint={node.description} error={error} id={fieldId(pointer)}>
      {(control) =>
        // An input with one line would remove the line breaks in its value.
        shape.multiline || (shape.input === 'text' && !shape.secret && tall) ? (
          <textarea
            {...control}
            rows={Math.min(16, Math.max(3, text.split('\n').length))}
            spellCheck={false}
            value={text}
            onChange={(e) => change(e.target.value)}
          />
        ) : (
          <input
            {...control}
            type={shape.secret ? 'password' : shape.input}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(e) => change(e.target.value)}
          />
        )
      }
    </Field>
  );
}

export function NumberField({ pointer, node, label, value, error, integer }: FieldProps & { integer: boolean }) {
  const { onChange, input } = useForm();
  const partial = input.partial[pointer];
  const wrong = partial === undefined ? error : say.mustBeANumber;
  return (
    <Field label={label} hint={hintOf(node.description, node.schema)} error={wrong} id={fieldId(pointer)}>
      {(control) => (
        // This is a text field, because a number field hides unfinished numbers.
        <input
          {...control}
          type="text"
          inputMode={integer ? 'numeric' : 'decimal'}
          autoComplete="off"
          value={partial ?? numberText(value)}
          onChange={(e) =>
            onChange({ do: 'type', at: pointer, text: e.target.value, value: parseNumber(e.target.value) })
          }
        />
      )}
    </Field>
  );
}

function numberText(value: Json | undefined): string {
  return rawNumber(value) ?? (typeof value === 'number' ? String(value) : '');
}

function hintOf(description: string | undefined, schema: Record<string, Json>): string | undefined {
  const { minimum, maximum } = schema;
  const range =
    minimum !== undefined && maximum !== undefined
      ? say.between(JSON.stringify(minimum), JSON.stringify(maximum))
      : minimum !== undefined
        ? say.atLeast(JSON.stringify(minimum))
        : maximum !== undefined
          ? say.atMost(JSON.stringify(maximum))
          : undefined;
  return [description, range].filter((part) => part !== undefined).join(' · ') || undefined;
}

export function SwitchField({ pointer, node, label, value, error }: FieldProps) {
  const { onChange } = useForm();
  const hint = useId();
  return (
    <div>
      <div className={css.switch}>
        <input
          id={fieldId(pointer)}
          type="checkbox"
          role="switch"
          checked={value === true}
          aria-describedby={node.description === undefined ? undefined : hint}
          onChange={(e) => onChange({ do: 'set', at: pointer, to: e.target.checked })}
        />
        <label htmlFor={fieldId(pointer)}>{label}</label>
      </div>
      {error !== undefined && <p className={css.error}>{error}</p>}
      {node.description !== undefined && (
        <p id={hint} className={css.hint}>
          {node.description}
        </p>
      )}
    </div>
  );
}
