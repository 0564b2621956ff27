import type { Json } from '../../api/json';
import { Field } from '../../ui/Field';
import { fieldId, useForm, type FieldProps } from './SchemaForm';
import css from './SchemaForm.module.css';
import type { Option } from './shape';

const mostRadios = 4;
const mostListed = 12;

/**
 * A field for one of several values. It shows radio buttons if they fit in one line, a select list for a few values,
 * and a search field for many.
 */
export function ChoiceField({
  pointer,
  node,
  label,
  required,
  value,
  error,
  options,
}: FieldProps & { options: Option[] }) {
  const { onChange } = useForm();
  const now = options.findIndex((o) => same(o.value, value));
  const pick = (index: number): void => onChange({ do: 'set', at: pointer, to: options[index]?.value });

  if (required && options.length <= mostRadios) {
    return (
      <fieldset id={fieldId(pointer)} tabIndex={-1} aria-invalid={error !== undefined}>
        <legend className={css.legend} style={{ paddingBottom: 4 }}>
          {label}
        </legend>
        <div className={css.radios}>
          {options.map((option, i) => (
            <label key={option.label}>
              <input type="radio" name={fieldId(pointer)} checked={i === now} onChange={() => pick(i)} />
              {option.label}
            </label>
          ))}
        </div>
        {error !== undefined && <p className={css.error}>{error}</p>}
        {node.description !== undefined && <p className={css.hint}>{node.description}</p>}
      </fieldset>
    );
  }
  if (options.length > mostListed) {
    const list = `${fieldId(pointer)}-options`;
    // If the typed text is not an option, it stays in the field, and the schema rejects it.
    const type = (text: string): void => {
      const found = options.find((o) => o.label === text);
      onChange({ do: 'set', at: pointer, to: found ? found.value : text === '' && !required ? undefined : text });
    };
    return (
      <Field label={label} hint={node.description} error={error} id={fieldId(pointer)}>
        {(control) => (
          <>
            <input
              {...control}
              list={list}
              autoComplete="off"
              spellCheck={false}
              value={options[now]?.label ?? textOf(value)}
              onChange={(e) => type(e.target.value)}
            />
            <datalist id={list}>
              {options.map((option) => (
                <option key={option.label} value={option.label} />
              ))}
            </datalist>
          </>
        )}
      </Field>
    );
  }
  return (
    <Field label={label} hint={node.description} error={error} id={fieldId(pointer)}>
      {(control) => (
        <select {...control} value={now} onChange={(e) => pick(Number(e.target.value))}>
          {(now < 0 || !required) && <option value={-1}>{value === undefined ? '' : JSON.stringify(value)}</option>}
          {options.map((option, i) => (
            <option key={option.label} value={i}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

const same = (a: Json, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
