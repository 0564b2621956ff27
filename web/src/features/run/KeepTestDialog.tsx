import { useState } from 'react';
import type { Test } from '../../api/types';
import { getRun } from '../../api/verbs';
import { closeDialog } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { testsTab as say } from '../../texts/run';
import { runActions } from '../../texts/runs';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { useOpenAgent } from '../../agent/openAgent';
import { reasonOf } from './editTest';

/** Adds the input and the answer of a run as a test of the draft. */
export function KeepTestDialog({ runId }: { runId: string }) {
  const { fields, session } = useOpenAgent();
  const tests = fields.tests ?? [];
  const names = new Set(tests.map((t) => t.name));
  const [name, setName] = useState(() => {
    let n = tests.length + 1;
    while (names.has(say.nameOf(n))) n++;
    return say.nameOf(n);
  });
  const [ignore, setIgnore] = useState('');
  const task = useTask();
  const taken = names.has(name.trim());
  const keep = async (): Promise<void> => {
    const run = await getRun(runId);
    if (run.withheld) throw new Error(runActions.withheld);
    const pointers = ignore.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
    const test: Test = {
      name: name.trim(),
      input: run.input,
      expect: run.error ? { errorType: run.error.type } : { output: run.output },
      ...(pointers.length > 0 && { ignore: pointers }),
      source: 'recorded',
    };
    session?.editDraft({ tests: [...tests, test] });
    if (session && !(await session.flush())) {
      const { save } = session.get();
      session.editDraft({ tests });
      throw new Error(say.notKept(reasonOf(save)));
    }
    closeDialog();
    notify('done', say.kept(test.name));
  };
  return (
    <FormDialog
      title={say.keepTitle}
      about={say.keepAbout}
      verb={say.save}
      ready={name.trim() !== '' && !taken}
      busy={task.busy}
      fault={task.fault}
      onSubmit={() => task.run(keep)}
      onClose={closeDialog}
    >
      <TextField
        label={say.name}
        value={name}
        maxLength={100}
        onChange={setName}
        error={taken ? say.taken : undefined}
      />
      <Field label={say.ignore} hint={say.ignoreHint} mono>
        {(control) => <textarea {...control} rows={2} value={ignore} onChange={(e) => setIgnore(e.target.value)} />}
      </Field>
    </FormDialog>
  );
}
