import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { parseJson, type Json } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { schemaTable as say } from '../../texts/schemas';
import { Button, IconButton } from '../../ui/Button';
import {
  addRow,
  removeRow,
  renameRow,
  requireRow,
  sayRow,
  simpleTypes,
  typeRow,
  type RowType,
  type SchemaRow,
} from './rows';
import css from './SchemaTable.module.css';

interface Props {
  which: 'input' | 'output';
  schema: JsonSchema;
  rows: SchemaRow[];
  /** Undefined while a published version is shown. */
  onChange: ((next: JsonSchema) => void) | undefined;
}

export function SchemaTable({ which, schema, rows, onChange }: Props) {
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={say.propertiesOfTheSchema(which)}>
      <table className={css.table} aria-label={say.propertiesOfTheSchema(which)}>
        <thead>
          <tr>
            <th scope="col">{say.name}</th>
            <th scope="col">{say.type}</th>
            <th scope="col">{say.required}</th>
            <th scope="col">{say.default}</th>
            <th scope="col">{say.description}</th>
            <th scope="col">
              <span className="visually-hidden">{say.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // By place: a row that is renamed is the same row, and keeps the focus.
            <Row key={i} row={row} taken={rows.map((r) => r.name)} schema={schema} onChange={onChange} />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && (
        <p className={css.none}>{which === 'input' ? say.anyInputIsTaken : say.anyOutputIsTaken}</p>
      )}
      {onChange && (
        <Button onClick={() => onChange(addRow(schema, 'property'))}>
          <Plus size={14} aria-hidden />
          {say.addProperty}
        </Button>
      )}
    </div>
  );
}

interface RowProps {
  row: SchemaRow;
  taken: string[];
  schema: JsonSchema;
  onChange: Props['onChange'];
}

function Row({ row, taken, schema, onChange }: RowProps) {
  const { name, type, required, initial, description } = row;
  const readOnly = onChange === undefined;
  return (
    <tr>
      <td>
        <NameCell name={name} taken={taken} onRename={onChange && ((to) => onChange(renameRow(schema, name, to)))} />
      </td>
      <td>
        <select
          aria-label={say.typeOf(name)}
          disabled={readOnly}
          value={type}
          onChange={(e) => {
            const next = e.target.value as RowType;
            if (next !== 'other') onChange?.(typeRow(schema, name, next));
          }}
        >
          {simpleTypes.map((t) => (
            <option key={t} value={t}>
              {t}
            </option>
          ))}
          <option value="other" disabled>
            {say.seeJson}
          </option>
        </select>
      </td>
      <td className={css.middle}>
        <input
          type="checkbox"
          aria-label={say.isRequired(name)}
          disabled={readOnly}
          checked={required}
          onChange={(e) => onChange?.(requireRow(schema, name, e.target.checked))}
        />
      </td>
      <td>
        <DefaultCell
          row={row}
          key={initial}
          onSay={onChange && ((to) => onChange(sayRow(schema, name, 'default', to)))}
        />
      </td>
      <td>
        <input
          aria-label={say.descriptionOf(name)}
          readOnly={readOnly}
          value={description}
          onChange={(e) =>
            onChange?.(sayRow(schema, name, 'description', e.target.value === '' ? undefined : e.target.value))
          }
        />
      </td>
      <td>
        {onChange && (
          <IconButton small label={say.remove(name)} onClick={() => onChange(removeRow(schema, name))}>
            <X size={14} aria-hidden />
          </IconButton>
        )}
      </td>
    </tr>
  );
}

/** A name reaches the schema when it is free; what is typed on the way stays in the field. */
function NameCell({
  name,
  taken,
  onRename,
}: {
  name: string;
  taken: string[];
  onRename: ((to: string) => void) | undefined;
}) {
  const [typed, setTyped] = useState<string>();
  const wrong = typed !== undefined && typed !== name && (typed === '' || taken.includes(typed));
  return (
    <input
      className={css.name}
      aria-label={say.nameOf(name)}
      aria-invalid={wrong}
      title={wrong ? (typed === '' ? say.aPropertyHasAName : say.thereIsAlready(typed)) : undefined}
      spellCheck={false}
      readOnly={onRename === undefined}
      value={typed ?? name}
      onChange={(e) => setTyped(e.target.value)}
      onKeyDown={(e) => {
        if (e.key === 'Enter') e.currentTarget.blur();
        if (e.key === 'Escape') setTyped(undefined);
      }}
      onBlur={() => {
        if (typed !== undefined && !wrong && typed !== name) onRename?.(typed);
        setTyped(undefined);
      }}
    />
  );
}

/** A default is typed as it is for texts, and as JSON for all else. */
function DefaultCell({ row, onSay }: { row: SchemaRow; onSay: ((to: Json | undefined) => void) | undefined }) {
  const { name, type, initial } = row;
  const value = initial === '' ? undefined : parseJson(initial);
  const shown = type === 'string' && typeof value === 'string' ? value : initial;
  const [typed, setTyped] = useState(shown);
  const read = readDefault(typed, type);
  const wrong = read === 'none';
  return (
    <input
      className={css.mono}
      aria-label={say.defaultOf(name)}
      aria-invalid={wrong}
      title={wrong ? say.thisIsNotJsonYet : undefined}
      spellCheck={false}
      readOnly={onSay === undefined}
      value={typed}
      onChange={(e) => setTyped(e.target.value)}
      onKeyDown={(e) => e.key === 'Enter' && e.currentTarget.blur()}
      onBlur={() => {
        if (read !== 'none' && typed !== shown) onSay?.(read.value);
      }}
    />
  );
}

function readDefault(text: string, type: RowType): { value: Json | undefined } | 'none' {
  if (text === '') return { value: undefined };
  if (type === 'string') return { value: text };
  try {
    return { value: parseJson(text) };
  } catch {
    return 'none';
  }
}
