import { stringifyJson } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { setLayout, useLayout } from '../../state/layout';
import { schemaView as say } from '../../texts/schemas';
import { Button } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { schemaOf, useOpenAgent, type OpenAgent } from '../../agent/openAgent';
import { Breaks } from './Breaks';
import { readRows, type SchemaRow } from './rows';
import { SchemaTable } from './SchemaTable';
import css from './SchemaView.module.css';

/** Returns the table rows of a schema, if the user selected the table and a table can show the schema. */
export function useSchemaRows(which: 'input' | 'output' | undefined): SchemaRow[] | undefined {
  const agent = useOpenAgent();
  const { schemaAs } = useLayout();
  if (which === undefined || schemaAs === 'json' || agent.schemas[which].fault !== undefined) return undefined;
  return readRows(schemaOf(agent.fields, which));
}

/**
 * Shows the bar above a schema. It contains the choice of the view, the inference, and warnings about breaking changes.
 */
export function SchemaBar({ which }: { which: 'input' | 'output' }) {
  const agent = useOpenAgent();
  const schema = schemaOf(agent.fields, which);
  const { schemaAs } = useLayout();
  const plain = agent.schemas[which].fault === undefined && readRows(schema) !== undefined;
  return (
    <div className={css.bar}>
      <Choices
        label={say.schemaAs}
        choices={[
          { value: 'table', label: say.table, disabled: !plain },
          { value: 'json', label: 'JSON' },
        ]}
        value={plain ? schemaAs : 'json'}
        onChange={(next) => setLayout({ schemaAs: next })}
      />
      {agent.session && (
        <Button onClick={() => showDialog({ kind: 'updateSchemas', from: 'runs' })}>{say.guess}</Button>
      )}
      <span className={css.grow} />
      {agent.session && agent.latestVersion !== '' && <Breaks which={which} />}
    </div>
  );
}

/** Shows the schema as a table. The table covers the editor that contains the same schema as JSON. */
export function SchemaSheet({ which, rows }: { which: 'input' | 'output'; rows: SchemaRow[] }) {
  const agent = useOpenAgent();
  return (
    <div className={css.sheet}>
      <SchemaTable
        which={which}
        schema={schemaOf(agent.fields, which)}
        rows={rows}
        onChange={agent.session && ((next) => write(agent, which, next))}
      />
    </div>
  );
}

const write = (agent: OpenAgent, which: 'input' | 'output', next: JsonSchema): void =>
  agent.editSchema(which, `${stringifyJson(next, 2)}\n`);
