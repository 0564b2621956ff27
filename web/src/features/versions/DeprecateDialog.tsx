import { useState, type SyntheticEvent } from 'react';
import { refreshFacts, usePins, useVersions } from '../../api/queries';
import type { Pin, VersionSummary } from '../../api/types';
import { deprecate } from '../../api/verbs';
import { closeDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import { useOpenAgent } from '../agents/openAgent';
import { PinTable } from './PinTable';

/** Marks a version as one that callers should leave, with the reason and where to go; or takes the mark back. */
export function DeprecateDialog({ version }: { version: string }) {
  const { name } = useOpenAgent();
  const versions = useVersions(name);
  const pins = usePins(name);
  const shown = versions.data?.find((v) => v.version === version);
  if (!shown || !pins.data) {
    return (
      <Dialog title={`Deprecate ${version}`} onClose={closeDialog}>
        <Fault message={versions.error?.message ?? pins.error?.message} />
        {!versions.isError && !pins.isError && <p>Looking who references it…</p>}
      </Dialog>
    );
  }
  return <Ask shown={shown} others={others(versions.data ?? [], version)} pins={pins.data} />;
}

const others = (all: VersionSummary[], version: string): VersionSummary[] =>
  all.filter((v) => v.version !== version && !v.deprecated);

function Ask({ shown, others: choices, pins }: { shown: VersionSummary; others: VersionSummary[]; pins: Pin[] }) {
  const { name } = useOpenAgent();
  const { version } = shown;
  const [reason, setReason] = useState(shown.reason ?? '');
  const [successor, setSuccessor] = useState(shown.successor ?? choices[0]?.reference ?? '');
  const task = useTask();
  const moving = pins.filter((pin) => pin.version === version);

  const put = (deprecated: boolean): void =>
    task.run(async () => {
      await deprecate(
        name,
        version,
        deprecated ? { deprecated, reason: reason.trim(), successor: successor.trim() } : { deprecated },
      );
      refreshFacts(name);
      closeDialog();
      notify('done', deprecated ? `${name}@${version} is deprecated` : `${name}@${version} is as good as new`);
    });
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    if (reason.trim() === '') return task.fail('Say why: callers read it with every run.');
    put(true);
  };
  return (
    <Dialog
      medium
      title={`Deprecate ${name}@${version}`}
      about="It goes on running and says so with every run. Ranges and latest take it only if nothing else fits."
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          {shown.deprecated && (
            <Button disabled={task.busy} onClick={() => put(false)}>
              Take it back
            </Button>
          )}
          <Button look="primary" type="submit" form="deprecate" disabled={task.busy}>
            {shown.deprecated ? 'Change' : 'Deprecate'}
          </Button>
        </>
      }
    >
      <form id="deprecate" onSubmit={submit} style={{ display: 'grid', gap: 12 }}>
        <Field label="Why" hint="A sentence for callers, such as what it does wrong." error={task.fault}>
          {(control) => (
            <input {...control} value={reason} autoComplete="off" onChange={(e) => setReason(e.target.value)} />
          )}
        </Field>
        <Field
          label="What to use instead"
          mono
          hint={
            choices.length === 0
              ? 'There is no other version to move to; another agent’s reference is as good.'
              : 'A version of this agent, or a reference to another one.'
          }
        >
          {(control) => (
            <>
              <input
                {...control}
                list="successors"
                value={successor}
                autoComplete="off"
                spellCheck={false}
                onChange={(e) => setSuccessor(e.target.value)}
              />
              <datalist id="successors">
                {choices.map((v) => (
                  <option key={v.version} value={v.reference} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      </form>
      <section aria-label="Who must move" style={{ display: 'grid', gap: 8 }}>
        <p>
          {moving.length === 0
            ? 'Nobody is registered as using it.'
            : `These use it now and must move${successor.trim() === '' ? '' : ` to ${successor.trim()}`}:`}
        </p>
        {moving.length > 0 && <PinTable pins={moving} />}
      </section>
    </Dialog>
  );
}
