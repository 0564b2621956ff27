import { fromCode as say } from '../../texts/schemas';
import { useOpenAgent } from '../../agent/openAgent';
import { useOlderSchemas } from '../../agent/schemaSources';
import css from './ConfigPanel.module.css';

/** Says where an inferred schema came from, and whether the code has changed since. */
export function SchemaOrigin({ which }: { which: 'input' | 'output' }) {
  const source = useOpenAgent().fields.schemaSources?.[which];
  const older = useOlderSchemas().includes(which);
  if (!source) return null;
  return (
    <p role="status" className={css.hint}>
      {source.source === 'sample' ? say.guessed : say.follows(source.source)} {older && say.older}
    </p>
  );
}
