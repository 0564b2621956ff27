import { closeDialog } from '../../app/dialogs';
import { fontSizes, useEditorSettings, type EditorSettings as Settings } from '../../editor/settings';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Check, Field } from '../../ui/Field';
import css from './EditorSettings.module.css';

const change = (to: Partial<Settings>): void => {
  useEditorSettings.setState(to);
};

/** How somebody likes their editor. What is chosen holds at once. */
export function EditorSettings() {
  const { fontSize, wrap, minimap, tabSize, python } = useEditorSettings();
  return (
    <Dialog
      title="Editor settings"
      about="They hold at once, in this browser."
      onClose={closeDialog}
      foot={
        <Button look="primary" onClick={closeDialog}>
          Done
        </Button>
      }
    >
      <div className={css.fields}>
        <Field label="Font size" hint={`${fontSizes.min} to ${fontSizes.max} pixels`}>
          {(control) => (
            <input
              {...control}
              type="number"
              min={fontSizes.min}
              max={fontSizes.max}
              defaultValue={fontSize}
              onChange={({ target }) => target.validity.valid && change({ fontSize: target.valueAsNumber })}
            />
          )}
        </Field>
        <Field label="Indentation">
          {(control) => (
            <select {...control} value={tabSize} onChange={(e) => change({ tabSize: Number(e.target.value) })}>
              <option value={0}>By language</option>
              <option value={2}>2 spaces</option>
              <option value={4}>4 spaces</option>
              <option value={8}>8 spaces</option>
            </select>
          )}
        </Field>
        <Check label="Wrap long lines" checked={wrap} onChange={(on) => change({ wrap: on })} />
        <Check label="Overview of the file at its edge" checked={minimap} onChange={(on) => change({ minimap: on })} />
        <Check
          label="Language service for Python"
          hint="Completion and type checks in this page. It takes about 290 MB of memory while a Python file is open."
          checked={python}
          onChange={(on) => change({ python: on })}
        />
      </div>
    </Dialog>
  );
}
