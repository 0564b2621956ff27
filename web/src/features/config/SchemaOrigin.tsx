import { fromCode as say } from '../../texts/schemas';
import { useOpenAgent } from '../../agent/openAgent';
import { useOlderSchemas, useUnread } from '../../agent/schemaSources';
import css from './ConfigPanel.module.css';

/** Shows how an inferred schema was made, and whether the code has changed since then. */
export function SchemaOrigin({ which }: { which: 'input' | 'output' }) {
  const { id, fields } = useOpenAgent();
  const source = fields.schemaSources?.[which];
  const unread = useUnread();
  const older = useOlderSchemas().includes(which);
  if (!source) return null;
  return (
    <p role="status" className={css.hint}>
      {source.source === 'sample' ? say.guessed : say.follows(source.source)} {older && say.older}{' '}
      {older && unread.agent === id && unread.problems.map(say.unread).join(' ')}
    </p>
  );
}
