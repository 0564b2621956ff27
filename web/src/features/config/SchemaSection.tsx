import { isObject } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { readNode } from '../../schema/form/shape';
import { toTypes } from '../../schema/toTypes';
import { schemaSection as say } from '../../texts/config';
import { Button } from '../../ui/Button';
import { problemAt, schemaOf, useOpenAgent } from '../agents/openAgent';
import css from './ConfigPanel.module.css';
import { Section } from './Section';

interface Props {
  which: 'input' | 'output';
  active: boolean;
  onEdit: () => void;
}

/** A schema at a glance; its JSON is edited in a tab of its own. */
export function SchemaSection({ which, active, onEdit }: Props) {
  const agent = useOpenAgent();
  const schema = schemaOf(agent.fields, which);
  const fault = agent.schemas[which].fault ?? problemAt(agent.save, `/${which}Schema`);
  const title = which === 'input' ? say.inputSchema : say.outputSchema;
  const rows = rowsOf(schema);
  return (
    <Section
      id={which}
      title={title}
      summary={fault === undefined ? (rows.length === 0 ? say.anyValue : say.properties(rows.length)) : say.notValid}
      wrong={fault !== undefined}
    >
      {fault !== undefined && (
        <p role="alert" className={css.error}>
          {fault}
        </p>
      )}
      {rows.length === 0 ? (
        <p className={css.hint}>{which === 'input' ? say.anyInputIsTaken : say.anyOutputIsTaken}</p>
      ) : (
        <table className={css.properties}>
          <thead>
            <tr>
              <th scope="col">{say.name}</th>
              <th scope="col">{say.type}</th>
              <th scope="col">{which === 'input' ? say.default : say.presence}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <td title={row.name}>{row.name}</td>
                <td title={row.type}>{row.type}</td>
                <td>
                  {which === 'input'
                    ? (row.initial ?? (row.required ? say.required : ''))
                    : row.required
                      ? say.required
                      : say.optional}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div>
        <Button aria-pressed={active} onClick={onEdit}>
          {agent.session ? say.edit : say.show} {title.toLowerCase()}
        </Button>
      </div>
    </Section>
  );
}

interface Row {
  name: string;
  type: string;
  required: boolean;
  initial: string | undefined;
}

function rowsOf(schema: JsonSchema): Row[] {
  const { shape } = readNode(schema, schema);
  if (shape.kind !== 'object') return [];
  return shape.properties.map(({ key, schema: property, required }) => {
    const { schema: node } = readNode(property, schema);
    const initial = 'default' in node ? JSON.stringify(node['default']) : undefined;
    return { name: key, type: typeOf(node, schema), required, initial };
  });
}

/** The TypeScript type on one line, which is the shortest way to say it. */
function typeOf(node: JsonSchema, root: JsonSchema): string {
  const defs = isObject(root) && isObject(root['$defs']) ? { $defs: root['$defs'] } : {};
  const { description: _, ...bare } = isObject(node) ? node : {};
  const declared = toTypes('T', { ...bare, ...defs });
  const first = declared
    .replace(/\/\*\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return (/^type T = (.*?);(?: type |$)/.exec(first)?.[1] ?? '').replace(/Array<([^<>{}]*)>/g, '$1[]');
}
