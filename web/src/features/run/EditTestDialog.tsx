import { useState } from 'react';
import type { Test } from '../../api/types';
import { closeDialog } from '../../state/dialogs';
import { testsTab as say } from '../../texts/run';
import { Choices } from '../../ui/Choices';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { useOpenAgent } from '../../agent/openAgent';
import { kinds, reasonOf, testOf, typedOf, wrongOf, type Typed } from './editTest';

/**
 * Edits a test of the draft. Without a name it adds a test. If the server rejects the test, the tests stay unchanged.
 */
export function EditTestDialog({ name }: { name: string | undefined }) {
  const { fields, session } = useOpenAgent();
  const tests = fields.tests ?? [];
  const [before] = useState(() => tests.find((t) => t.name === name));
  const [typed, setTyped] = useState(() => typedOf(before, tests));
  const task = useTask();
  const there = before !== undefined && tests.some((t) => t.name === name);
  const taken = tests.some((t) => t.name === typed.name.trim() && t.name !== name);
  const test = testOf(typed, before);
  const edit = (part: Partial<Typed>): void => setTyped((now) => ({ ...now, ...part }));
  const save = async (changed: Test): Promise<void> => {
    session?.editDraft({ tests: there ? tests.map((t) => (t.name === name ? changed : t)) : [...tests, changed] });
    if (session && !(await session.flush())) {
      const { save: state } = session.get();
      session.editDraft({ tests });
      throw new Error(say.notKept(reasonOf(state)));
    }
    closeDialog();
  };
  const { kind } = typed;
  return (
    <FormDialog
      title={before ? say.editTitle : say.addTitle}
      about={before && !there ? say.gone : say.editAbout}
      verb={say.save}
      ready={test !== undefined && !taken}
      busy={task.busy}
      fault={task.fault}
      onSubmit={() => test && task.run(() => save(test))}
      onClose={closeDialog}
    >
      <TextField
        label={say.name}
        value={typed.name}
        maxLength={100}
        onChange={(next) => edit({ name: next })}
        error={taken ? say.taken : undefined}
      />
      <JsonField
        label={say.input}
        value={typed.input}
        error={wrongOf('output', typed.input)}
        onChange={(input) => edit({ input })}
      />
      <Choices
        label={say.expect}
        choices={kinds.map((value) => ({ value, label: say.expectations[value] }))}
        value={kind}
        onChange={(next) => edit({ kind: next })}
      />
      {kind === 'schema' && <p>{say.schemaHint}</p>}
      {kind === 'errorType' && (
        <TextField
          mono
          label={say.expectedError}
          hint={say.expectedErrorHint}
          value={typed.errorType}
          onChange={(errorType) => edit({ errorType })}
        />
      )}
      {(kind === 'output' || kind === 'matches') && (
        <>
          <JsonField
            key={kind}
            label={kind === 'output' ? say.expectedOutput : say.expectedSchema}
            value={typed[kind]}
            error={wrongOf(kind, typed[kind])}
            onChange={(entered) => edit({ [kind]: entered })}
          />
          <Field label={say.ignore} hint={say.ignoreHint} mono>
            {(control) => (
              <textarea {...control} rows={2} value={typed.ignore} onChange={(e) => edit({ ignore: e.target.value })} />
            )}
          </Field>
        </>
      )}
      <TextField label={say.tags} hint={say.tagsHint} value={typed.tags} onChange={(tags) => edit({ tags })} />
    </FormDialog>
  );
}

interface JsonFieldProps {
  label: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

function JsonField({ label, value, error, onChange }: JsonFieldProps) {
  return (
    <Field label={label} error={error} mono>
      {(control) => (
        <textarea {...control} rows={5} spellCheck={false} value={value} onChange={(e) => onChange(e.target.value)} />
      )}
    </Field>
  );
}
