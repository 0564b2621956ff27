import { schemaSection as say } from '../../texts/config';
import { Button } from '../../ui/Button';
import { showDialog } from '../../state/dialogs';
import { fromCode } from '../../texts/schemas';
import { problemAt, schemaOf, useOpenAgent } from '../../agent/openAgent';
import { hasTypes } from '../../agent/schemaSources';
import { SchemaSummary, summaryOf } from '../../schema/SchemaSummary';
import css from './ConfigPanel.module.css';
import { SchemaOrigin } from './SchemaOrigin';
import { Section } from './Section';

interface Props {
  which: 'input' | 'output';
  active: boolean;
  onEdit: () => void;
}

/** Shows a summary of a schema. The JSON of the schema opens in a tab. */
export function SchemaSection({ which, active, onEdit }: Props) {
  const agent = useOpenAgent();
  const schema = schemaOf(agent.fields, which);
  const fault = agent.schemas[which].fault ?? problemAt(agent.save, `/${which}Schema`);
  const title = which === 'input' ? say.inputSchema : say.outputSchema;
  const rows = summaryOf(schema);
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
      <SchemaSummary which={which} rows={rows} />
      <SchemaOrigin which={which} />
      <div className={css.buttons}>
        <Button aria-pressed={active} onClick={onEdit}>
          {agent.session ? say.edit : say.show} {title.toLowerCase()}
        </Button>
        {agent.session && hasTypes(agent.fields.language) && (
          <Button onClick={() => showDialog({ kind: 'updateSchemas', from: 'code' })}>{fromCode.update}</Button>
        )}
      </div>
    </Section>
  );
}
