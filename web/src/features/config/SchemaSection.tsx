import { schemaSection as say } from '../../texts/config';
import { Button } from '../../ui/Button';
import { problemAt, schemaOf, useOpenAgent } from '../../agent/openAgent';
import { SchemaSummary, summaryOf } from '../../schema/SchemaSummary';
import css from './ConfigPanel.module.css';
import { Section } from './Section';

interface Props {
  which: 'input' | 'output';
  active: boolean;
  onEdit: () => void;
}

/** A summary of a schema. Its JSON opens in a tab. */
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
      <div>
        <Button aria-pressed={active} onClick={onEdit}>
          {agent.session ? say.edit : say.show} {title.toLowerCase()}
        </Button>
      </div>
    </Section>
  );
}
