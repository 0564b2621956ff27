import { useState, type SyntheticEvent } from 'react';
import { ApiError } from '../../api/http';
import { refreshSecrets } from '../../api/queries';
import type { Secret } from '../../api/types';
import { setSecret } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Check, Field } from '../../ui/Field';
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
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    const fault = nameFault(name);
    if (fault !== undefined) return task.fail(fault);
    if (value === '') return task.fail('A value is needed.');
    task.run(async () => {
      await setSecret(name, secret?.agentId ?? agent.trim(), { value, ...(bound ? { bind } : {}) }).catch(
        (error: unknown) => {
          throw inWords(error);
        },
      );
      await refreshSecrets();
      notify('done', `Set ${name}`);
      onClose();
    });
  };
  const fixed = secret !== undefined;
  return (
    <Dialog
      medium
      title={fixed ? `Replace ${secret.name}` : 'New secret'}
      about="The value is encrypted and never shown again. Runs that begin from now on are given it."
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="set-secret" disabled={task.busy}>
            {fixed ? 'Replace' : 'Set'}
          </Button>
        </>
      }
    >
      <form id="set-secret" className={css.form} onSubmit={submit}>
        {!fixed && (
          <>
            <Field label="Name" hint="As versions declare it, such as API_KEY." mono>
              {(control) => (
                <input
                  {...control}
                  value={name}
                  maxLength={64}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={(e) => setName(e.target.value)}
                />
              )}
            </Field>
            <Field label="Only for this agent" hint="Its name; without one it is for all of the workspace." mono>
              {(control) => (
                <input
                  {...control}
                  value={agent}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={(e) => setAgent(e.target.value)}
                />
              )}
            </Field>
          </>
        )}
        <Field
          label="Value"
          hint="At least 8 characters: a shorter one could not be masked. It may have several lines, as a key in PEM has."
          mono
        >
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
        <Check label="Show what I type" checked={shown} onChange={setShown} />
        <Check
          label="Send it to one host instead of giving it to programs"
          hint="As a header of ctx.fetch, and of plain HTTP through the proxy. It never enters the sandbox."
          checked={bound}
          onChange={setBound}
        />
        {bound && (
          <>
            <Field label="Host" hint="host:port, such as api.example.com:443." mono>
              {(control) => (
                <input
                  {...control}
                  value={bind.host}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={(e) => setBind({ ...bind, host: e.target.value })}
                />
              )}
            </Field>
            <Field label="Header" mono>
              {(control) => (
                <input
                  {...control}
                  value={bind.header}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={(e) => setBind({ ...bind, header: e.target.value })}
                />
              )}
            </Field>
            <Field label="What the header says" hint="{value} stands for the secret." mono>
              {(control) => (
                <input
                  {...control}
                  value={bind.format}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={(e) => setBind({ ...bind, format: e.target.value })}
                />
              )}
            </Field>
          </>
        )}
        <Fault message={task.fault} />
      </form>
    </Dialog>
  );
}

/** The server's complaint about a field, which its message begins with. */
function inWords(error: unknown): unknown {
  const [first] = error instanceof ApiError ? error.fields : [];
  if (first === undefined) return error;
  const fields: Record<string, string> = {
    '/name': 'The name',
    '/value': 'The value',
    '/bind/host': 'The host',
    '/bind/header': 'The header',
    '/bind/format': 'What the header says',
  };
  return new Error(`${fields[first.pointer] ?? ''} ${first.message}`.trim());
}
