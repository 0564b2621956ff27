import { useCapabilities } from '../api/queries';
import { fontSizes, useEditorSettings, type EditorSettings } from './settings';
import { editorSettings as say } from '../texts/files';
import { Check, Field } from '../ui/Field';
import css from './EditorForm.module.css';

const change = (to: Partial<EditorSettings>): void => {
  useEditorSettings.setState(to);
};

/** Shows the editor settings. A change applies immediately. */
export function EditorForm() {
  const { fontSize, wrap, minimap, tabSize, python, suggestions, keys } = useEditorSettings();
  const model = useCapabilities().data?.languageModel;
  return (
    <div className={css.fields}>
      <Field label={say.fontSize} hint={say.fontSizeHint(fontSizes.min, fontSizes.max)}>
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
      <Field label={say.indentation}>
        {(control) => (
          <select {...control} value={tabSize} onChange={(e) => change({ tabSize: Number(e.target.value) })}>
            <option value={0}>{say.byLanguage}</option>
            {[2, 4, 8].map((n) => (
              <option key={n} value={n}>
                {say.spaces(n)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={say.keys} hint={say.keysHint}>
        {(control) => (
          <select
            {...control}
            value={keys}
            onChange={(e) => change({ keys: e.target.value === 'vim' ? 'vim' : 'own' })}
          >
            <option value="own">{say.keysOf.own}</option>
            <option value="vim">{say.keysOf.vim}</option>
          </select>
        )}
      </Field>
      <Check label={say.wrapLongLines} checked={wrap} onChange={(on) => change({ wrap: on })} />
      <Check label={say.overview} checked={minimap} onChange={(on) => change({ minimap: on })} />
      <Check label={say.python} hint={say.pythonHint} checked={python} onChange={(on) => change({ python: on })} />
      {model !== undefined && (
        <Check
          label={say.suggestions}
          hint={say.suggestionsHint}
          checked={suggestions}
          onChange={(on) => change({ suggestions: on })}
        />
      )}
    </div>
  );
}
