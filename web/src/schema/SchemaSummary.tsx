import { isObject, type Json } from '../api/json';
import type { JsonSchema } from '../api/types';
import { readNode } from './form/shape';
import { toTypes } from './toTypes';
import { schemaSummary as say } from '../texts/schemas';
import css from './SchemaSummary.module.css';

export interface SummaryRow {
  name: string;
  type: string;
  required: boolean;
  initial: string | undefined;
  description: string;
}

interface Props {
  which: 'input' | 'output';
  rows: SummaryRow[];
  /** Whether to show the description of each property, if the layout has space. */
  described?: boolean;
}

/** Shows a summary of a schema. */
export function SchemaSummary({ which, rows, described = false }: Props) {
  if (rows.length === 0) {
    return <p className={css.none}>{which === 'input' ? say.anyInputIsTaken : say.anyOutputIsTaken}</p>;
  }
  const withDefaults = rows.some((row) => row.initial !== undefined);
  return (
    <table className={css.properties} data-described={described || undefined}>
      <thead>
        <tr>
          <th scope="col">{say.name}</th>
          <th scope="col">{say.type}</th>
          <th scope="col">{say.presence}</th>
          {withDefaults && <th scope="col">{say.default}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td title={row.name}>{row.name}</td>
            <td title={row.type}>
              <span>{row.type}</span>
              {described && row.description !== '' && <small>{row.description}</small>}
            </td>
            <td>{row.required ? say.required : say.optional}</td>
            {withDefaults && <td title={row.initial}>{row.initial}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function summaryOf(schema: JsonSchema): SummaryRow[] {
  const { shape } = readNode(schema, schema);
  if (shape.kind !== 'object') return [];
  return shape.properties.map(({ key, schema: property, required }) => {
    const { schema: node } = readNode(property, schema);
    const initial = 'default' in node ? defaultOf(node['default']) : undefined;
    const { description } = node;
    return {
      name: key,
      type: typeOf(node, schema),
      required,
      initial,
      description: typeof description === 'string' ? description : '',
    };
  });
}

/** Shows texts of an enum unchanged. It shows other values and empty texts as JSON. */
const defaultOf = (value: Json | undefined): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value);

/** Shows the TypeScript type in one line. "integer" is an exception, because TypeScript has no such type. */
function typeOf(node: JsonSchema, root: JsonSchema): string {
  if (isObject(node) && node['type'] === 'integer' && !('enum' in node) && !('const' in node)) return 'integer';
  const defs = isObject(root) && isObject(root['$defs']) ? { $defs: root['$defs'] } : {};
  const { description: _, ...bare } = isObject(node) ? node : {};
  const declared = toTypes('T', { ...bare, ...defs });
  const first = declared
    .replace(/\/\*\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return (/^type T = (.*?);(?: type |$)/.exec(first)?.[1] ?? '').replace(/Array<([^<>{}]*)>/g, '$1[]');
}
