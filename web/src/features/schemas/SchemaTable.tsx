import { Plus, X } from 'lucide-react';
import { useId, useLayoutEffect, useRef, useState, type ComponentProps } from 'react';
import { parseJson, type Json } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { schemaTable as say } from '../../texts/schemas';
import { Button, IconButton } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import {
  addRow,
  chooseRow,
  readChoices,
  removeRow,
  renameRow,
  requireRow,
  sayRow,
  showChoices,
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
  const [removals, setRemovals] = useState(0);
  const adds = useRef<HTMLButtonElement>(null);
  // The focused button disappears with the last row, so the focus moves.
  useLayoutEffect(() => {
    if (removals > 0 && document.activeElement === document.body) adds.current?.focus();
  }, [removals]);
  // A new row gets the focus, so that the user can type its name immediately.
  const scroll = useRef<HTMLDivElement>(null);
  const added = useRef(false);
  useLayoutEffect(() => {
    if (!added.current) return;
    added.current = false;
    const name = scroll.current?.querySelector<HTMLInputElement>('tbody:last-of-type input[aria-label]');
    name?.focus();
    name?.select();
  }, [rows.length]);
  const remove =
    onChange &&
    ((name: string): void => {
      setRemovals(removals + 1);
      onChange(removeRow(schema, name));
    });
  const add = onChange && (
    <Button
      ref={adds}
      onClick={() => {
        added.current = true;
        onChange(addRow(schema, 'property'));
      }}
    >
      <Plus size={14} aria-hidden />
      {say.addProperty}
    </Button>
  );
  if (rows.length === 0) {
    return <Empty actions={add}>{which === 'input' ? say.anyInputIsTaken : say.anyOutputIsTaken}</Empty>;
  }
  return (
    <div ref={scroll} className={css.scroll} tabIndex={0} role="region" aria-label={say.asATable(which)}>
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
        {rows.map((row, i) => (
          // The key is the position, so that a row keeps the focus when the user renames it.
          <Row
            key={i}
            row={row}
            taken={rows.map((r) => r.name)}
            removals={removals}
            schema={schema}
            onChange={onChange}
            onRemove={remove}
          />
        ))}
      </table>
      {add}
    </div>
  );
}

interface RowProps {
  row: SchemaRow;
  taken: string[];
  /** Increases when rows change their positions. Then unfinished text of the old rows is discarded. */
  removals: number;
  schema: JsonSchema;
  onChange: Props['onChange'];
  onRemove: ((name: string) => void) | undefined;
}

function Row({ row, taken, removals, schema, onChange, onRemove }: RowProps) {
  const { name, type, required, initial, description } = row;
  const readOnly = onChange === undefined;
  return (
    <tbody>
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
        <td data-label={say.required}>
          <input
            type="checkbox"
            aria-label={say.isRequired(name)}
            disabled={readOnly}
            checked={required}
            onChange={(e) => onChange?.(requireRow(schema, name, e.target.checked))}
          />
        </td>
        <td data-label={say.default}>
          <DefaultCell
            row={row}
            key={`${removals} ${type} ${initial}`}
            onSay={onChange && ((to) => onChange(sayRow(schema, name, 'default', to)))}
          />
        </td>
        <td data-label={say.description}>
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
          {onRemove && (
            <IconButton small label={say.remove(name)} onClick={() => onRemove(name)}>
              <X size={14} aria-hidden />
            </IconButton>
          )}
        </td>
      </tr>
      {type === 'choice' && (
        <tr className={css.more}>
          <td />
          <td colSpan={4}>
            <div data-label={say.choices}>
              <span>
                <ChoicesCell
                  row={row}
                  key={`${removals} ${showChoices(row.choices)}`}
                  onChoose={onChange && ((to) => onChange(chooseRow(schema, name, to)))}
                />
              </span>
            </div>
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** A name is copied to the schema when it is free. Other typed text stays in the field. */
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
    <Words
      label={say.nameOf(name)}
      fault={wrong ? (typed === '' ? say.aPropertyHasAName : say.thereIsAlready(typed)) : undefined}
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

/** The user types the default of a text as plain text, and any other default as JSON. */
function DefaultCell({ row, onSay }: { row: SchemaRow; onSay: ((to: Json | undefined) => void) | undefined }) {
  const { name, type, initial } = row;
  const value = initial === '' ? undefined : parseJson(initial);
  const shown = isText(type) && typeof value === 'string' ? value : initial;
  const [typed, setTyped] = useState(shown);
  const read = readDefault(typed, type);
  return (
    <Words
      label={say.defaultOf(name)}
      fault={read === 'none' ? say.thisIsNotJsonYet : undefined}
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

const isText = (type: RowType): boolean => type === 'string' || type === 'choice';

function readDefault(text: string, type: RowType): { value: Json | undefined } | 'none' {
  if (text === '') return { value: undefined };
  if (isText(type)) return { value: text };
  try {
    return { value: parseJson(text) };
  } catch {
    return 'none';
  }
}

/** Edits the values of an enum, which are separated by commas. */
function ChoicesCell({ row, onChoose }: { row: SchemaRow; onChoose: ((to: string[]) => void) | undefined }) {
  const shown = showChoices(row.choices);
  const [typed, setTyped] = useState(shown);
  const read = readChoices(typed);
  return (
    <Words
      label={say.choicesOf(row.name)}
      fault={read === undefined ? say.aChoiceHasAWord : undefined}
      readOnly={onChoose === undefined}
      value={typed}
      onChange={(e) => setTyped(e.target.value)}
      onKeyDown={(e) => e.key === 'Enter' && e.currentTarget.blur()}
      onBlur={() => {
        if (read !== undefined && typed !== shown) onChoose?.(read);
      }}
    />
  );
}

interface WordsProps extends ComponentProps<'input'> {
  label: string;
  /** The error in the typed text. */
  fault: string | undefined;
}

/** A cell in which the user types names or values. It shows an error below the field. */
function Words({ label, fault, ...input }: WordsProps) {
  const faultId = useId();
  return (
    <>
      <input
        {...input}
        className={css.mono}
        aria-label={label}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : faultId}
        spellCheck={false}
      />
      {fault !== undefined && (
        <p id={faultId} className={css.fault}>
          {fault}
        </p>
      )}
    </>
  );
}
