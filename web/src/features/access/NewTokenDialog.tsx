import { useState } from 'react';
import { ApiError } from '../../api/http';
import { refreshTokens } from '../../api/queries';
import type { NewToken, Scope } from '../../api/types';
import { createToken } from '../../api/verbs';
import { newTokenDialog as say } from '../../texts/access';
import { common } from '../../texts/common';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { Check, Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { FieldFaults, useTask } from '../../ui/useTask';
import { complaint } from './complaint';
import { namesIn, scopeWords } from './scopes';
import css from './TokensPage.module.css';

const day = 86_400_000;
const expiries = [
  ['7', say.days(7)],
  ['30', say.days(30)],
  ['90', say.days(90)],
  ['365', say.aYear],
  ['', say.never],
] as const;

/** Creates a token and shows its secret once. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewToken>();
  return made === undefined ? <Ask onMade={setMade} onClose={onClose} /> : <Made token={made} onClose={onClose} />;
}

function Ask({ onMade, onClose }: { onMade: (token: NewToken) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set<Scope>(['read', 'run']));
  const [agents, setAgents] = useState('');
  const [days, setDays] = useState('90');
  const task = useTask();
  const choose = (scope: Scope, chosen: boolean): void => {
    const next = new Set(scopes);
    if (chosen) next.add(scope);
    else next.delete(scope);
    setScopes(next);
  };
  const submit = (): void => {
    if (name.trim() === '') return task.fail(say.sayWhatItIsFor, '/name');
    if (scopes.size === 0) return task.fail(say.chooseWhatItMayDo);
    task.run(async () => {
      const token = await createToken({
        name: name.trim(),
        scopes: [...scopes],
        agents: namesIn(agents),
        ...(days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * day).toISOString() }),
      }).catch((error: unknown) => {
        throw inWords(error, namesIn(agents));
      });
      await refreshTokens();
      onMade(token);
    });
  };
  return (
    <FormDialog
      title={say.newToken}
      verb={say.makeIt}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={say.name}
        hint={say.nameHint}
        error={task.at('/name')}
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <fieldset className={css.fieldset}>
        <legend>{say.itMay}</legend>
        {scopeWords.map(([scope, words]) => (
          <Check
            key={scope}
            label={scope}
            hint={words}
            checked={scopes.has(scope)}
            onChange={(chosen) => choose(scope, chosen)}
          />
        ))}
      </fieldset>
      <TextField
        label={say.onlyForTheseAgents}
        hint={say.onlyForTheseAgentsHint}
        error={task.at('/agents')}
        mono
        value={agents}
        onChange={setAgents}
      />
      <Field label={say.expiresAfter}>
        {(control) => (
          <select {...control} value={days} onChange={(e) => setDays(e.target.value)}>
            {expiries.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}

/** Returns the server's error about a field, with the name of the agent to which the error refers. */
function inWords(error: unknown, agents: string[]): unknown {
  const [first] = error instanceof ApiError ? error.fields : [];
  if (first === undefined) return error;
  const agent = /^\/agents\/(\d+)$/.exec(first.pointer)?.[1];
  if (agent === undefined) return complaint(error, ['/name']);
  return new FieldFaults(new Map([['/agents', say.aboutAgent(agents[Number(agent)] ?? '', first.message)]]));
}

function Made({ token, onClose }: { token: NewToken; onClose: () => void }) {
  return (
    <Dialog
      medium
      title={say.theToken(token.name)}
      about={say.theTokenAbout}
      foot={
        <>
          <CopyButton text={token.secret} label={say.copyTheToken} wording={say.copy} />
          <Button look="primary" onClick={onClose}>
            {common.done}
          </Button>
        </>
      }
    >
      <output className={css.secret} aria-label={say.secret}>
        {token.secret}
      </output>
    </Dialog>
  );
}
