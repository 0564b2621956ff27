import { showDialog } from '../../state/dialogs';
import { fromCode as say } from '../../texts/schemas';
import { Button } from '../../ui/Button';
import { useOlderSchemas } from '../../agent/schemaSources';
import css from './PublishDialog.module.css';

/** Warns that schemas were inferred from code that has changed since then. */
export function OlderSchemas() {
  const older = useOlderSchemas();
  if (older.length === 0) return null;
  return (
    <p role="status" className={css.older}>
      <span>{say.olderThanTheCode(older)}</span>
      <Button look="link" onClick={() => showDialog({ kind: 'updateSchemas', from: 'code' })}>
        {say.update}
      </Button>
    </p>
  );
}
