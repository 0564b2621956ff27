import { setLayout } from '../../state/layout';
import { closeDialog } from '../../state/dialogs';
import type { Problem } from '../../editor/codeEditor';
import { editorErrors as say } from '../../texts/publish';
import { Button } from '../../ui/Button';
import { titleOf } from '../../agent/schemaPaths';
import css from './PublishDialog.module.css';

const most = 3;

export interface EditorErrorsProps {
  problems: Problem[];
  onGoTo: (path: string, line: number, column: number) => void;
}

/** Lists the editor's errors in the draft that will be published. A click shows the position in the editor. */
export function EditorErrors({ problems, onGoTo }: EditorErrorsProps) {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return null;
  return (
    <section className={css.marked} aria-label={say.title}>
      <p>{say.marks(errors.length)}</p>
      <ul>
        {errors.slice(0, most).map(({ path, line, column, message }) => (
          <li key={`${path} ${line} ${column} ${message}`}>
            <Button
              look="link"
              onClick={() => {
                closeDialog();
                onGoTo(path, line, column);
              }}
            >
              {titleOf(path)}:{line}
            </Button>
            <span>{message}</span>
          </li>
        ))}
      </ul>
      {errors.length > most && (
        <Button
          look="link"
          onClick={() => {
            closeDialog();
            setLayout({ problemsOpen: true, pane: 'code' });
          }}
        >
          {say.showAll(errors.length)}
        </Button>
      )}
    </section>
  );
}
