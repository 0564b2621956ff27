import { useState } from 'react';
import { ApiError } from '../../api/http';
import { refreshSecrets } from '../../api/queries';
import type { Secret } from '../../api/types';
import { setSecret } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { setSecretDialog as say } from '../../texts/secrets';
import { classes } from '../../ui/classes';
import { Check, Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import css from './SecretsPage.module.css';
import { nameFault } from './words';

interface Props {
  /** One that is replaced. */
  secret?: Secret;
  /** Of a new one, where it is known. */
  name?: string;
  agent?: string;
  onClose: () => void;
}

/** Takes a value, which nobody sees again. */
export function SetSecretDialog({ secret, name: wanted = '', agent: owner = '', onClose }: Props) {
  const [name, setName] = useState(secret?.name ?? wanted);
  const [agent, setAgent] = useState(secret?.agent ?? owner);
  const [value, setValue] = useState('');
  const [shown, setShown] = useState(false);
  const [bound, setBound] = useState(secret?.bind !== undefined);
  const [bind, setBind] = useState({ host: '', header: 'Authorization', format: 'Bearer {value}', ...secret?.bind });
  const task = useTask();
  const submit = (): void => {
    const fault = nameFault(name);
    if (fault !== undefined) return task.fail(fault);
    if (value === '') return task.fail(say.aValueIsNeeded);
    task.run(async () => {
      await setSecret(name, secret?.agentId ?? agent.trim(), { value, ...(bound ? { bind } : {}) }).catch(
        (error: unknown) => {
          throw inWords(error);
        },
      );
      await refreshSecrets();
      notify('done', say.done(name));
      onClose();
    });
  };
  const fixed = secret !== undefined;
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
          <TextField label={say.name} hint={say.nameHint} mono maxLength={64} value={name} onChange={setName} />
          <TextField
            label={say.onlyForThisAgent}
            hint={say.onlyForThisAgentHint}
            mono
            value={agent}
            onChange={setAgent}
          />
        </>
      )}
      <Field label={say.value} hint={say.valueHint} mono>
        {(control) => (
          <textarea
            {...control}
            className={classes(control.className, css.value, shown && css.shown)}
            rows={3}
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
            mono
            value={bind.host}
            onChange={(typed) => setBind({ ...bind, host: typed })}
          />
          <TextField
            label={say.header}
            mono
            value={bind.header}
            onChange={(typed) => setBind({ ...bind, header: typed })}
          />
          <TextField
            label={say.whatTheHeaderSays}
            hint={say.whatTheHeaderSaysHint}
            mono
            value={bind.format}
            onChange={(typed) => setBind({ ...bind, format: typed })}
          />
        </>
      )}
    </FormDialog>
  );
}

/** The server's complaint about a field, which its message begins with. */
function inWords(error: unknown): unknown {
  const [first] = error instanceof ApiError ? error.fields : [];
  if (first === undefined) return error;
  return new Error(say.faults[first.pointer]?.(first.message) ?? first.message);
}
