import { useState } from 'react';
import { ApiError } from '../api/http';
import { refreshSecrets } from '../api/queries';
import type { Secret } from '../api/types';
import { setSecret } from '../api/verbs';
import { notify } from '../state/notices';
import { setSecretDialog as say } from '../texts/secrets';
import { classes } from '../ui/classes';
import { Check, Field } from '../ui/Field';
import { FormDialog } from '../ui/FormDialog';
import { TextField } from '../ui/TextField';
import { FieldFaults, useTask } from '../ui/useTask';
import css from './SetSecretDialog.module.css';
import { secretNameFault } from './secretNames';

interface Props {
  /** The secret whose value is replaced. */
  secret?: Secret;
  /** The name of a new secret, if it is known. */
  name?: string;
  agent?: string;
  onClose: () => void;
}

/** Asks for the value of a secret and stores it. The Studio never shows the value again. */
export function SetSecretDialog({ secret, name: wanted = '', agent: owner = '', onClose }: Props) {
  const [name, setName] = useState(secret?.name ?? wanted);
  const [agent, setAgent] = useState(secret?.agent ?? owner);
  const [value, setValue] = useState('');
  const [shown, setShown] = useState(false);
  const [bound, setBound] = useState(secret?.bind !== undefined);
  const [bind, setBind] = useState({ host: '', header: 'Authorization', format: 'Bearer {value}', ...secret?.bind });
  const fixed = secret !== undefined;
  const task = useTask();
  const submit = (): void => {
    const fault = secretNameFault(name);
    const wrong = new Map<string, string>();
    if (fault !== undefined) wrong.set('/name', fault);
    if (value === '') wrong.set('/value', say.aValueIsNeeded);
    if (wrong.size > 0) return task.failAt(wrong);
    task.run(async () => {
      await setSecret(name, secret?.agentId ?? agent.trim(), { value, ...(bound ? { bind } : {}) }).catch(
        (error: unknown) => {
          throw inWords(error, fixed);
        },
      );
      await refreshSecrets();
      notify('done', say.done(name));
      task.leadOn(onClose);
    });
  };
  return (
    <FormDialog
      title={fixed ? say.replaceNamed(secret.name) : say.newSecret}
      about={say.about}
      verb={fixed ? say.replace : say.set}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      {!fixed && (
        <>
          <TextField
            label={say.name}
            hint={say.nameHint}
            error={task.at('/name')}
            mono
            maxLength={64}
            value={name}
            onChange={setName}
          />
          <TextField
            label={say.onlyForThisAgent}
            hint={say.onlyForThisAgentHint}
            mono
            value={agent}
            onChange={setAgent}
          />
        </>
      )}
      <Field label={say.value} hint={say.valueHint} error={task.at('/value')} mono>
        {(control) => (
          <textarea
            {...control}
            className={classes(control.className, css.value, shown && css.shown)}
            rows={3}
            autoFocus={wanted !== ''}
            value={value}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            onChange={(e) => setValue(e.target.value)}
          />
        )}
      </Field>
      <Check label={say.showWhatIType} checked={shown} onChange={setShown} />
      <Check label={say.sendItToOneHost} hint={say.sendItToOneHostHint} checked={bound} onChange={setBound} />
      {bound && (
        <>
          <TextField
            label={say.host}
            hint={say.hostHint}
            error={task.at('/bind/host')}
            mono
            value={bind.host}
            onChange={(typed) => setBind({ ...bind, host: typed })}
          />
          <TextField
            label={say.header}
            error={task.at('/bind/header')}
            mono
            value={bind.header}
            onChange={(typed) => setBind({ ...bind, header: typed })}
          />
          <TextField
            label={say.whatTheHeaderSays}
            hint={say.whatTheHeaderSaysHint}
            error={task.at('/bind/format')}
            mono
            value={bind.format}
            onChange={(typed) => setBind({ ...bind, format: typed })}
          />
        </>
      )}
    </FormDialog>
  );
}

/**
 * Maps the server's field errors to sentences that start with the label of the field. When a secret is replaced, the
 * dialog has no name field.
 */
function inWords(error: unknown, fixed: boolean): unknown {
  const fields = error instanceof ApiError ? error.fields : [];
  const said = fields.map(({ pointer, message }): [string, string] => [
    pointer,
    say.faults[pointer]?.(message) ?? message,
  ]);
  const [first] = said;
  if (first === undefined) return error;
  const shown = said.filter(([pointer]) => pointer in say.faults && !(fixed && pointer === '/name'));
  return shown.length > 0 ? new FieldFaults(new Map(shown)) : new Error(first[1]);
}
