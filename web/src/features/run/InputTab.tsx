import { useEffect, useRef } from 'react';
import { stringifyJson } from '../../api/json';
import type { FieldProblem } from '../../api/types';
import { unknownKeys } from '../../schema/form/follow';
import { fieldId, SchemaForm } from '../../schema/form/SchemaForm';
import { join } from '../../schema/pointer';
import { inputTab as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { useOpenAgent } from '../../agent/openAgent';
import { JsonInput } from './JsonInput';
import css from './InputTab.module.css';
import { SavedInputs } from './SavedInputs';
import { defaultInput, type RunHandle } from './useRun';

const rawId = 'input-as-json';

/** Edits the input of the run, either in a form that is made from the schema, or as JSON. */
export function InputTab({ run }: { run: RunHandle }) {
  const agent = useOpenAgent();
  const { input, changeInput, problems, focusProblem, view } = run;
  const { inputSchema } = agent.fields;
  const refusal = view.run.kind === 'refused' ? view.run.message : undefined;
  const tab = useRef<HTMLDivElement>(null);

  const first = problems[0]?.pointer;
  const partial = Object.keys(input.partial)[0];
  useEffect(() => {
    if (focusProblem === 0) return;
    const target = first ?? partial;
    const field = target === undefined ? undefined : nearest(target);
    (field ?? tab.current?.querySelector<HTMLElement>(`#${rawId},textarea,input,select`))?.focus();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the focus moves when a run was tried, not while typing
  }, [focusProblem]);

  return (
    <div className={css.tab} ref={tab}>
      <div className={css.bar}>
        <Choices
          label={say.inputAs}
          choices={[
            { value: 'form', label: say.form, disabled: input.fault !== undefined },
            { value: 'json', label: say.json },
          ]}
          value={input.mode}
          onChange={(mode) => changeInput({ do: 'mode', mode })}
        />
        <span className={css.grow} />
        <SavedInputs input={input} onLoad={(value) => changeInput({ do: 'replace', value })} />
        <Button look="link" onClick={() => changeInput({ do: 'replace', value: defaultInput(agent) })}>
          {say.reset}
        </Button>
      </div>
      {(problems.length > 0 || refusal !== undefined || input.fault !== undefined) && (
        <Problems problems={problems} summary={input.fault ?? (problems.length === 0 ? refusal : undefined)} />
      )}
      {input.mode === 'json' ? (
        <JsonInput
          id={rawId}
          text={input.text}
          wrong={input.fault !== undefined}
          untouched={problems.length === 0 && input.text === stringifyJson(defaultInput(agent), 2)}
          schema={inputSchema}
          onEdit={(text) => changeInput({ do: 'text', text })}
        />
      ) : (
        <div className={css.scroll}>
          <SchemaForm schema={inputSchema} input={input} problems={problems} onChange={changeInput} />
          <NotInSchema
            keys={unknownKeys(input.value, inputSchema)}
            onRemove={(key) => changeInput({ do: 'set', at: join('', key), to: undefined })}
          />
        </div>
      )}
    </div>
  );
}

/** Lists the values of the input that have no field in the form. The run receives them too. */
function NotInSchema({ keys, onRemove }: { keys: string[]; onRemove: (key: string) => void }) {
  if (keys.length === 0) return null;
  return (
    <div className={css.unknown} role="note">
      <p>{say.notInSchema}</p>
      <ul>
        {keys.map((key) => (
          <li key={key}>
            <code>{key}</code>{' '}
            <Button look="link" onClick={() => onRemove(key)}>
              {say.removeKey(key)}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Problems({ problems, summary }: { problems: FieldProblem[]; summary: string | undefined }) {
  return (
    <div className={css.problems} role="alert">
      {summary !== undefined && <p>{summary}</p>}
      {problems.length > 0 && <p>{say.doesNotFit}</p>}
      <ul>
        {problems.slice(0, 8).map(({ pointer, message }) => (
          <li key={pointer + message}>
            <Button look="link" onClick={() => nearest(pointer)?.focus()}>
              {pointer === '' ? say.input : pointer.slice(1)}
            </Button>
            : {message}
          </li>
        ))}
        {problems.length > 8 && <li>{say.andMore(problems.length - 8)}</li>}
      </ul>
    </div>
  );
}

/** Returns the field at a pointer, or the closest enclosing field. */
function nearest(pointer: string): HTMLElement | undefined {
  const parts = pointer.split('/');
  for (let n = parts.length; n > 0; n--) {
    const field = document.getElementById(fieldId(parts.slice(0, n).join('/')));
    if (field) return field;
  }
  return document.getElementById(rawId) ?? undefined;
}
